"""What a very large simulation costs on a cluster: worked out from what is measured here, one part and one driver.

A worker needs some time for a part; the driver gets its bytes over the network and adds it to what it has, one after another. So with W
workers a simulation takes as long as the slowest of the three: the time of the workers / W, the bytes / the speed of the network, the
time of the driver.
"""

import argparse
import pickle
import time

from machine import describe
from made_banks import chain_bank

import quaestor as qs
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cohort import Cohort
from quaestor.simulate.simulation import KEEP, Simulation
from quaestor.simulate.work import Job, part_size

STUDENTS = 10**9
NETWORK = 1.25e9  # bytes a second: 10 Gbit/s
WORKERS = (1, 2, 16, 64, 256, 1024)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", choices=KEEP, default=KEEP[0], help="what is sent: numbers of every student, or sums over them")
    parser.add_argument("--card", type=float, default=1.6, help="seconds of a million students on a graphics card, all of `simulate`")
    parser.add_argument("--core-price", type=float, default=0.04, help="of one core for an hour, in any currency")
    parser.add_argument("--card-price", type=float, default=4.0, help="of one graphics card for an hour")
    arguments = parser.parse_args()
    bank, rules, behaviour = chain_bank(1, 5, 500), qs.Rules(score="entropy", stop=qs.max_questions(20)), Behaviour()
    cohort = Cohort(bank, bank, STUDENTS, 1)
    size = part_size(bank, rules, cohort, behaviour, "cpu")
    job = Job(bank, rules, cohort, behaviour, size=size, keep=arguments.keep)
    job.part(0)
    start = time.perf_counter()
    made = [job.part(number)[0] for number in range(1, 6)]
    a_part = (time.perf_counter() - start) / len(made)
    sent = pickle.dumps(made[0], protocol=5)
    start = time.perf_counter()
    for _ in made:
        pickle.loads(sent)
    Simulation.of(iter(made), tuple(bank.skills), tuple(bank.questions), size * len(made))
    driver = (time.perf_counter() - start) / len(made)
    print(f"\n## Clusters\n\n{describe()}; one thread\n")
    print(f"Measured: a part of {size:,} students takes {a_part:.2f} s; it is sent as {len(sent) / 1e6:.2f} MB")
    print(f"({len(sent) / size:.0f} bytes a student; keep={arguments.keep!r}), and the driver takes {driver * 1000:.1f} ms for it.\n")
    print(f"Worked out from that, {STUDENTS:,} students x 20 of 500 questions, network of {NETWORK / 1e9:g} GB/s:\n")
    print("| workers | hours | held up by | cores: price | students a second |\n| --- | --- | --- | --- | --- |")
    parts = STUDENTS / size
    limits = {"network": parts * len(sent) / NETWORK, "driver": parts * driver}
    for kind, each, price in (("cores", a_part / size, arguments.core_price), ("cards", arguments.card / 1e6, arguments.card_price)):
        for workers in WORKERS if kind == "cores" else WORKERS[:4]:
            times = {"workers": STUDENTS * each / workers, **limits}
            slowest = max(times, key=lambda name: times[name])
            took = times[slowest]
            cost = took / 3600 * workers * price
            print(f"| {workers:,} {kind} | {took / 3600:.2f} | {slowest} | {cost:,.2f} | {STUDENTS / took:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
