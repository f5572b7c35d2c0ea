# The page of --report has the document of --json, and is the page that 'ounce report' makes of it. Several runs form one page.
need scores scores_near
ounce verify scores.onnx scores_near.onnx --data scores.npz --labels label --no-edge-cases --report now.html --json > run.json 2> human
tail -n 1 human | sed 's/([0-9.]* kB)/(<size>)/'
json_get command < run.json
ounce report run.json -o later.html | sed 's/, [0-9.]* kB/, <size>/'
# Only the name of the file differs.
sed 's/"name":"run.json"/"name":""/' later.html | cmp - now.html
ounce check scores.onnx --target linux-x64@1.22.0 --json > check.json 2> human
ounce report run.json check.json run.json -o all.html --json 2> human | grep -v bytes
grep -o '<th scope="row">[^<]*</th><td>[^<]*' all.html
grep -c 'loads nothing and sends nothing' all.html
# The page is replaced as a whole.
ounce report run.json -o all.html > human
grep -o '<th scope="row">[^<]*</th><td>[^<]*' all.html
