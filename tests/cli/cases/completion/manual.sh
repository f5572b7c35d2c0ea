# A page for the program and for every verb, each of which man formats without a warning, where there is a man.
for page in $(ounce man --list); do
  words=$(echo "$page" | tr - ' ')
  ounce man ${words#ounce} > page
  head -n 1 page | grep -q "ounce man${words#ounce}" || echo "$page: no page"
  grep -q '^\.SH SYNOPSIS' page || echo "$page: no synopsis"
  ! command -v man > /dev/null || man --warnings -E UTF-8 -l page 2>&1 > /dev/null
done
ounce man contract set | sed -n '/^\.SH NAME/,/^\.SH OPTIONS/p'
exits 2 ounce man nothing
