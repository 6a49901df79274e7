"""The mutation tests themselves: mutants that are noticed, missed, never reached and endless."""

import tomllib

from benchmarks import mutants


def test_mutants_that_are_named_as_equivalent_exist() -> None:
    named = tomllib.loads(mutants.EQUIVALENT.read_text(encoding="utf-8"))
    paths = {name.split()[0] for name in named}
    assert set(named) <= {mutant.name for path in paths for mutant in mutants.mutants_of(path)}
    assert all(named.values())
