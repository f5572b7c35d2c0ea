ounce demo
ls -A
