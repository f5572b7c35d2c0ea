mkdir models models/deeper
cd models
need matmul trees text
cd deeper
need conv
cd ../..
ounce inspect models
