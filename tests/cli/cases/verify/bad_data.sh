# One line each, and exit 2 (4 for what is not there).
need scores scores_near
v="ounce verify scores.onnx scores_near.onnx"
exits 2 $v --data scores.nan.npz
exits 2 $v --data scores.empty.npz
exits 2 $v --data scores.wide.npz
exits 2 $v --data scores.whole.npz
exits 2 $v --data scores.npz --input x=nothing
exits 2 $v --data scores.npz --input y=x
exits 2 $v --data scores.npz --labels nothing
exits 2 $v --data scores.npz --labels more
exits 2 $v --data scores.npz --first 8
exits 2 $v --data scores.npz --max-drop 1%
exits 2 $v --labels label
exits 2 $v --data scores.csv
exits 2 $v --data scores.onnx
exits 4 $v --data nowhere.npz
head -c 300 scores.npz > cut.npz
exits 2 $v --data cut.npz
exits 2 $v --session-config nonsense
