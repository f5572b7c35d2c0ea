mkdir -p models/deeper
(cd models && need matmul conv && cd deeper && need lstm)
ounce quantize models -o small --to w16
find small | sort
