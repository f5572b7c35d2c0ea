ounce demo -o kept | tail -n 1
ls kept
