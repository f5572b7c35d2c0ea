"""Data of all kinds. The tests examine the arguments that reach the library, and run no model."""

import numpy
import pytest
from example import MODEL, clips
from ounce import RequestError, _data, verify
from ounce._results import ValueDescription

INPUTS = [_data.Input("x", 2, True)]


class Kept:
    """A call that keeps what it is given."""

    def __init__(self):
        self.arrays, self.samples = {}, []

    def add_array(self, name, array):
        self.arrays[name] = array

    def add_sample(self, sample, has_batch_axis):
        self.samples.append((sample, has_batch_axis))


def given(data, inputs=INPUTS, **options):
    call = Kept()
    options["data"] = data
    _data.add_data(call, options, lambda: inputs)
    return call, options


def shapes(call):
    return [{name: array.shape for name, (_, array) in sample.items()} for sample, _ in call.samples]


def test_paths_stay_options(tmp_path):
    assert given("val.npz")[1]["data"] == "val.npz"
    assert given(tmp_path / "val.npz")[1]["data"] == str(tmp_path / "val.npz")
    assert given({"x": tmp_path / "x.npy"})[1]["data"] == {"x": str(tmp_path / "x.npy")}
    assert given(["x=x.npy", "y=y.npy"])[1]["data"] == ["x=x.npy", "y=y.npy"]


def test_arrays_are_handed_over_where_they_are():
    x = numpy.zeros((4, 3), numpy.float32)
    call, options = given({"x": x})
    type_name, array = call.arrays["x"]
    assert type_name == "float32"
    assert numpy.shares_memory(array, x)
    assert "data" not in options


def test_what_is_not_in_one_piece_or_not_of_this_machine_is_copied():
    for x in (numpy.zeros((3, 4), numpy.float32).T, numpy.zeros((4, 3), ">f4")):
        type_name, array = given({"x": x})[0].arrays["x"]
        assert (type_name, array.shape, array.flags.c_contiguous, array.dtype.isnative) == ("float32", (4, 3), True, True)


def test_one_array_is_the_only_input():
    assert given(numpy.zeros((4, 3)))[0].arrays.keys() == {"data"}


def test_labels_may_be_an_array():
    call, options = given({"x": numpy.zeros((4, 3))}, labels=[0, 1, 2, 3])
    assert options["labels"] == "labels"
    assert call.arrays["labels"][1].shape == (4,)


def test_batches_of_a_loader_are_cut_into_samples_without_a_copy():
    x = numpy.zeros((8, 3), numpy.float32)
    call, _ = given([{"x": x[i : i + 4], "y": numpy.arange(4), "name": ["a"] * 4} for i in (0, 4)], labels="y")
    assert shapes(call) == [{"x": (3,), "y": ()}] * 8
    assert all(numpy.shares_memory(sample["x"][1], x) for sample, _ in call.samples)
    assert not any(has_batch for _, has_batch in call.samples)


def test_rows_of_a_dataset_are_samples():
    call, _ = given([{"x": [1.0, 2.0, 3.0], "text": "not for the model"}] * 2)
    assert shapes(call) == [{"x": (3,)}] * 2


def test_a_fixed_batch_is_a_whole_input():
    call, _ = given([{"x": numpy.zeros((4, 3))}], [_data.Input("x", 2, False)])
    assert shapes(call) == [{"x": (4, 3)}]
    assert call.samples[0][1]


def test_a_tuple_of_arrays_is_all_inputs_and_the_labels():
    x, y = numpy.zeros((4, 3)), numpy.arange(4)
    call, options = given((x, y))
    assert options["labels"] == "labels"
    assert len(call.samples) == 4
    call, options = given((x, y), labels="y")
    assert options["labels"] == "y"
    with pytest.raises(RequestError, match="have 4, 3 samples"):
        given((x, numpy.arange(3)))
    call, options = given((x, x))  # two batches of one input
    assert "labels" not in options
    assert len(call.samples) == 8


def test_tuples_are_inputs_in_their_order_and_labels_behind():
    inputs = [_data.Input("a", 2, True), _data.Input("b", 2, True)]
    call, _ = given([(numpy.zeros((1, 3)), numpy.zeros((1, 5)), numpy.zeros(1))], inputs, labels="y")
    assert shapes(call) == [{"a": (3,), "b": (5,), "y": ()}]


def test_a_calibration_reader_is_read_to_its_end():
    class Reader:
        left = 3

        def get_next(self):
            self.left -= 1
            return {"x": numpy.zeros((1, 3))} if self.left >= 0 else None

    assert len(given(Reader())[0].samples) == 3


def test_a_dataset_without_an_iterator_ends_with_its_length():
    class Dataset:
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return numpy.zeros(3), 7

    call, _ = given(Dataset(), labels="y")
    assert shapes(call) == [{"x": (3,), "y": ()}] * 3


def test_a_table_is_its_columns():
    class Column:
        def to_numpy(self):
            return numpy.zeros(4)

    class Table:
        columns = ["a", "b"]
        to_numpy = None

        def __getitem__(self, name):
            return Column()

    assert given(Table())[0].arrays.keys() == {"a", "b"}


def test_an_endless_generator_ends_with_samples():
    def endless():
        while True:
            yield {"x": numpy.zeros((1, 3))}

    assert len(given(endless(), samples=5, first=2)[0].samples) == 7


def test_a_tensor_on_a_device_is_brought_here():
    class Tensor:
        """As much of torch's as is asked for."""

        dtype, shape, values = "torch.float32", (4, 3), numpy.ones((4, 3), numpy.float32)

        def detach(self):
            return self

        def cpu(self):
            return self

        def numpy(self):
            return self.values

    type_name, array = given({"x": Tensor()})[0].arrays["x"]
    assert type_name == "float32"
    assert numpy.shares_memory(array, Tensor.values)


def test_a_tensor_of_torch_is_taken():
    torch = pytest.importorskip("torch")
    assert given({"x": torch.zeros(4, 3, dtype=torch.bfloat16)})[0].arrays["x"][0] == "bfloat16"
    x = torch.zeros(4, 3, requires_grad=True)
    assert given({"x": x})[0].arrays["x"][1].ctypes.data == x.data_ptr()


def test_what_is_no_data_is_refused():
    with pytest.raises(RequestError, match="'x' holds str"):
        given({"x": numpy.array(["a", "b"])})
    with pytest.raises(RequestError, match="empty"):
        given([])
    with pytest.raises(RequestError, match="name them with labels="):
        given([{"x": numpy.zeros((1, 3))}], labels=[1])


def test_inputs_are_read_from_their_shapes():
    described = [
        ValueDescription("a", "float32[N,1,8000]", [-1, 1, 8000]),
        ValueDescription("b", "int64[4,?]", [4, -1]),
        ValueDescription("c", "sequence float32", []),
    ]
    assert _data.inputs_of(described) == [("a", 3, True), ("b", 2, False), ("c", None, False)]


def test_every_way_gives_the_same_answer():
    sound, labels = clips(12)
    ways = [
        {"audio": sound, "label": labels},
        [{"audio": sound[i : i + 5], "label": labels[i : i + 5]} for i in range(0, 12, 5)],
        ({"audio": one, "label": label} for one, label in zip(sound, labels)),
        [(sound, labels)],
    ]
    found = [verify(MODEL, MODEL, data=data, labels="label", edge_cases=False) for data in ways]
    assert [result.samples for result in found] == [12] * 4
    assert len({result.metric().reference for result in found}) == 1
