# A folder in gives a folder out, however many models it holds.
mkdir models
(cd models && need matmul)
ounce quantize models -o small
find small | sort
