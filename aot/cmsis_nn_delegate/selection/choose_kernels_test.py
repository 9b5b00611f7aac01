import pytest

from cmsis_nn_delegate.format import schema
from cmsis_nn_delegate.graph.tensor_type import Layout
from cmsis_nn_delegate.ops.attrs import Padding
from cmsis_nn_delegate.ops.extremum import ExtremumAttrs
from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.providers.registry import CMSIS_NN, PORTABLE, TUNED, get_providers
from cmsis_nn_delegate.selection.choose_kernels import choose_kernels, legalize
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.selection.preference import Preference
from cmsis_nn_delegate.targets.target import TARGETS, get_target
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

M4 = get_target("cortex-m4")


@pytest.mark.parametrize("seed", range(10))
def test_calls_go_to_the_first_provider_that_has_the_kernel(seed):
    graph = networks.random_network(seed)
    for choice in choose_kernels(legalize(graph, PayloadOptions(providers=(CMSIS_NN, PORTABLE))), M4).choices:
        has_it = CMSIS_NN.symbol(choice.kernel) is not None
        assert choice.provider is (CMSIS_NN if has_it else PORTABLE)
        assert choice.assignment.why == ("" if has_it else CMSIS_NN.why_lacking(choice.kernel))


@pytest.mark.parametrize("seed", range(10))
def test_tuned_kernels_come_first_on_the_instruction_sets_that_they_are_for(seed):
    legal = legalize(networks.random_network(seed))
    for target in TARGETS.values():
        for choice in choose_kernels(legal, target).choices:
            takers = [
                found
                for found in TUNED.implementations(choice.node.op)
                if target.isa in found.isas and not found.grows and found.takes(choice.node)
            ]
            if choice.provider is TUNED:
                assert choice.implementation in takers and not choice.implementation.why_not(choice.node)
            else:
                # Each that is for this instruction set says why it does not take the node.
                assert all(found.name in choice.assignment.why for found in takers)


def test_a_provider_that_comes_first_keeps_its_calls():
    builder = GraphBuilder()
    graph = builder.graph(builder.conv2d(builder.input(1, 4, 5, 5), 3))

    def chosen(*providers):
        (choice,) = choose_kernels(legalize(graph, PayloadOptions(providers=providers)), M4).choices
        return choice.provider

    assert chosen(TUNED, CMSIS_NN) is TUNED
    assert chosen(CMSIS_NN, TUNED) is CMSIS_NN
    assert chosen(CMSIS_NN) is CMSIS_NN


@pytest.mark.parametrize("largest", [False, True])
def test_a_kernel_that_the_portable_one_outdoes_comes_last_where_speed_counts(largest):
    builder = GraphBuilder()
    shape = (1, 4, 5, 5)
    a, b = builder.input(*shape), builder.input(*shape)
    b.retype(quant=a.quant)
    graph = builder.graph(builder.node("extremum", [a, b], ExtremumAttrs(largest), a.quant))

    def assigned(*providers):
        (choice,) = choose_kernels(legalize(graph, PayloadOptions(providers=providers)), M4).choices
        return choice.provider, choice.assignment.why

    why = f"cmsis-nn's {'maximum' if largest else 'minimum'} takes more instructions"
    assert assigned(TUNED, CMSIS_NN, PORTABLE) == (PORTABLE, why)
    assert assigned(TUNED, CMSIS_NN) == (CMSIS_NN, "")
    assert assigned(CMSIS_NN, PORTABLE) == (CMSIS_NN, "")


@pytest.mark.parametrize("seed", range(10))
def test_portable_kernels_need_no_scratch_memory_and_no_other_geometry(seed):
    graph = networks.random_network(seed)
    # Tuned kernels also save memory, where outputs overlap inputs.
    alone, both = (
        encode(graph, M4, PayloadOptions(providers=providers)) for providers in ((PORTABLE,), (CMSIS_NN, PORTABLE))
    )
    assert all(call.scratch_bytes == 0 for call in alone.calls)
    assert all(getattr(call.node.attrs, "called_as", None) is None for call in alone.calls)
    assert alone.plan.arena_bytes <= both.plan.arena_bytes


def test_the_payload_says_what_it_depends_on():
    graph = networks.random_network(3)
    payload = encode(graph, M4, PayloadOptions(providers=(PORTABLE,))).payload
    assert decode(payload).revisions == {PORTABLE.id: schema.PORTABLE_REVISION}
    builder = GraphBuilder()
    x = builder.input(1, 3, 2, 2)  # a tuned kernel has means of more channels
    payload = encode(builder.graph(builder.avg_pool2d(x, (2, 2))), M4).payload
    assert decode(payload).revisions == {CMSIS_NN.id: schema.CMSIS_NN_REVISION}


def test_a_graph_that_was_made_legal_is_another_one():
    builder = GraphBuilder()
    # Padding beside a kernel of one pixel, which CMSIS-NN's wrapper would not see.
    image = builder.conv2d(builder.input(1, 4, 5, 5), 3, (1, 1), padding=Padding(0, 0, 1, 1))
    graph = builder.graph(image)
    (legal,) = legalize(graph).assignments
    assert legal.node.attrs.called_as.dilation == (2, 2) and legal.node.outputs == graph.nodes[0].outputs
    assert graph.nodes[0].attrs.called_as is None
    # What is stored is the graph as it was lowered: other providers begin there.
    assert encode(graph, M4).graph is graph
    (portable,) = legalize(graph, PayloadOptions(providers=(PORTABLE,))).assignments
    assert portable.node.attrs == graph.nodes[0].attrs


def test_what_the_preferred_provider_cannot_compute_goes_to_the_next():
    builder = GraphBuilder()
    graph = builder.graph(builder.depthwise_conv2d(builder.input(1, 1, 5, 5), 3, kernel=(3, 3)))
    (choice,) = choose_kernels(legalize(graph), M4).choices
    assert choice.provider is PORTABLE and "one input channel; build a conv2d instead" in choice.assignment.why
    with pytest.raises(ValueError, match="one input channel"):
        encode(graph, M4, PayloadOptions(providers=(CMSIS_NN,)))


def test_a_kernel_that_no_provider_has():
    builder = GraphBuilder()
    graph = builder.graph(builder.transpose(builder.input(1, 3, 4, 4), Layout.ROW_MAJOR))
    with pytest.raises(ValueError, match="no kernel transpose of .* in cmsis-nn: compile for a provider that has it"):
        encode(graph, M4, PayloadOptions(providers=(CMSIS_NN,)))


@pytest.mark.parametrize("names", [[], [""], ["cmsis_nn"], ["portable", "tuned+cmsis-nn"]])
def test_unknown_providers(names):
    with pytest.raises(ValueError, match="choose from tuned, cmsis-nn, portable"):
        get_providers(names)


def _rounded(nbytes: int) -> int:
    return -(-nbytes // schema.ALIGNMENT) * schema.ALIGNMENT


@pytest.mark.parametrize("seed", range(6))
def test_flash_prefers_what_takes_the_fewest_bytes_of_a_payload(seed):
    graph = networks.random_network(seed)
    legal = legalize(graph)
    for target in TARGETS.values():
        fast = choose_kernels(legal, target).choices
        small = choose_kernels(legalize(graph, PayloadOptions(preference=Preference.FLASH)), target).choices
        stock = choose_kernels(legalize(graph, PayloadOptions(providers=(CMSIS_NN, PORTABLE))), target).choices
        for choices in zip(small, fast, stock):
            chosen, *others = [choice.flash_bytes() for choice in choices]
            assert chosen <= min(others)
            if chosen < others[0]:
                assert "bytes of flash less than tuned's" in choices[0].assignment.why
        for call in encode(graph, target, PayloadOptions(preference=Preference.FLASH)).calls:
            constants = sum(_rounded(constant.nbytes) for constant in call.constants)
            assert call.choice.flash_bytes() == call.record_bytes + constants


@pytest.mark.parametrize("seed", range(6))
def test_ram_never_takes_a_larger_arena(seed):
    graph = networks.random_network(seed)
    for target in (M4, get_target("cortex-m55")):
        fast, small = encode(graph, target), encode(graph, target, PayloadOptions(preference=Preference.RAM))
        assert small.plan.arena_bytes <= fast.plan.arena_bytes
        if small.plan.arena_bytes == fast.plan.arena_bytes:
            assert small.payload == fast.payload


def test_ram_takes_a_slower_kernel_only_where_the_arena_is_full():
    builder = GraphBuilder()
    # The scratch memory of the first call makes the arena what it is; that of the second fits below.
    wide = builder.conv2d(builder.input(1, 4, 4, 4), 8, (4, 4))
    graph = builder.graph(builder.conv2d(wide, 4, (1, 1)))
    fast, small = encode(graph, M4), encode(graph, M4, PayloadOptions(preference=Preference.RAM))
    assert [call.choice.provider for call in fast.calls] == [TUNED, TUNED]
    assert [call.choice.provider for call in small.calls] == [CMSIS_NN, TUNED]
    assert "bytes of scratch less than tuned's conv2d_joint_pairs" in small.calls[0].choice.assignment.why
    assert small.plan.arena_bytes < fast.plan.arena_bytes


def test_an_unknown_preference_is_refused():
    with pytest.raises(ValueError, match="unknown preference 'size'; choose one of speed, flash, ram"):
        Preference.of("size")


def test_flash_buys_the_most_instructions_a_byte_first():
    graph = networks.resnet8()
    none, most = encode(graph, M4), encode(graph, M4, PayloadOptions(max_flash_growth=1 << 20))
    prices = {call.index: call.choice.price for call in most.calls if call.choice.price is not None}
    assert len(prices) >= 4
    for price in prices.values():
        assert price.flash_bytes > 0 and price.saved_instructions > 0
    grown = sum(price.flash_bytes for price in prices.values())
    assert abs(len(most.payload) - len(none.payload) - grown) <= schema.ALIGNMENT
    best = sorted(prices, key=lambda index: prices[index].saved_instructions / prices[index].flash_bytes, reverse=True)
    for limit in (0, 1000, 6000, 12_000, 40_000, grown - 1, grown):
        some = encode(graph, M4, PayloadOptions(max_flash_growth=limit))
        assert len(some.payload) <= len(none.payload) + limit + schema.ALIGNMENT
        taken = {call.index for call in some.calls if call.choice.price is not None}
        left = limit
        for index in best:
            fits = prices[index].flash_bytes <= left
            assert (index in taken) == fits
            left -= prices[index].flash_bytes if fits else 0


def test_only_speed_grows_and_only_on_cores_that_have_such_kernels():
    graph = networks.resnet8()
    for preference in (Preference.FLASH, Preference.RAM):
        with pytest.raises(ValueError, match="max_flash_growth"):
            encode(graph, M4, PayloadOptions(preference=preference, max_flash_growth=1))
    with pytest.raises(ValueError, match="max_flash_growth is -1"):
        encode(graph, M4, PayloadOptions(max_flash_growth=-1))
    for core in ("cortex-m3", "cortex-m55"):
        target = get_target(core)
        assert encode(graph, target, PayloadOptions(max_flash_growth=1 << 20)).payload == encode(graph, target).payload
    stock = (CMSIS_NN, PORTABLE)
    grown = encode(graph, M4, PayloadOptions(providers=stock, max_flash_growth=1 << 20))
    assert grown.payload == encode(graph, M4, PayloadOptions(providers=stock)).payload
