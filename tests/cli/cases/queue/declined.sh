# If no worker can answer, the coordinator ends with the reason.
need fatal
mkdir elsewhere
(cd elsewhere && exec ounce work ../queue --idle 4s --lease 1s > /dev/null 2>&1) &
exits 3 ounce sensitivity fatal.onnx --to w8 --data fatal.npz --no-cache --queue queue --lease 1s
wait
ls queue/items queue/done queue/leases
