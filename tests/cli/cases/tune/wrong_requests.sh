# What is asked for makes no sense, whatever the model: exit 2, and nobody blames the model.
need fatal lstm signal
t="ounce tune fatal.onnx --data fatal.npz "
exits 2 $t --no-cache --target nowhere 2> said
exits 2 $t --no-cache --target android-arm64@banana 2>> said
exits 2 $t --no-cache --labels label --label-output nothing 2>> said
exits 2 $t --no-cache --cache here 2>> said
exits 2 ounce tune lstm.onnx --data signal.npz --no-cache 2>> said
wc -l < said
grep 'no candidate could be made' said || true
