# Every shell that is here understands its script.
for shell in bash zsh fish; do
  ounce completion $shell > script
  [ -s script ] && { ! command -v $shell > /dev/null || $shell -n script; } && echo "$shell: fine"
done
exits 2 ounce completion tcsh
