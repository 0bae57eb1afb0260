"""Records what walks of a Python model of retirement judge, in the format of VerdictRecord.swift.

python3 record-retirement.py MODEL > retirement.jsonl, where MODEL is the folder of ends_retire.py. Recorded are the
walks of the seeds 0 to 199 with `--rules fixed` and without restored disks: what a node judges whenever that changes,
and all living nodes after the random phase and in the end. There all retirements of one proposal name the same ends.
So lines from 1000 on are 40 walks again, with ends by chance and retirements that know each other, judged at once."""
import json, random, sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import ends_retire as model
KINDS = 'add propose promise retire bound release return'.split()


class Recorded(model.World):
    def run(self):
        self.verdicts, self.last = [], {}
        super().run()
        self.record()

    def settle(self, silent=frozenset()):
        self.record()
        super().settle(silent)

    def finalize(self, n):
        super().finalize(n)
        if self.judged(n) != self.last.get(n.name, [[], [], [], {}, []]):
            self.record(n)

    def judged(self, n):
        """Final and dead proposals, the ends of each retirement, the least end of each replica, devices let go."""
        proposals, least = [p.prop for p in self.proposals(n, live=False)], [(r, self.end(n, r)) for r in self.firstctx]
        ends = [[p, self.ends(n, p)] for p in proposals if self.of(n, 'retire', p)]
        return [sorted(n.final), [p for p in proposals if self.dead(n, p)], ends,
                {r: end for r, end in least if end < 10 ** 6}, sorted(self.gone(n))]

    def record(self, *nodes):
        for n in nodes or [n for n in self.nodes.values() if n.alive]:
            self.last[n.name] = self.judged(n)
            known = [names for *same, names in self.verdicts if same == [n.facts, self.last[n.name]]]
            known[0].add(n.name) if known else self.verdicts.append((set(n.facts), self.last[n.name], {n.name}))

    def closed(self, ids):
        return frozenset(ids).union(*(self.facts[i].knows for i in ids))

    def change(self, rng):
        for f in self.facts:
            if f.kind == 'retire':
                known = [q.id for q in self.facts[:f.id] if (q.kind, q.prop) == (f.kind, f.prop) and rng.random() < 0.3]
                f = f._replace(data={r: rng.randint(0, c) for r, c in f.data.items()}, knows=f.knows.union(known))
            self.facts[f.id] = f._replace(knows=self.closed(f.knows))
        self.firstctx = {r: self.closed(ids) for r, ids in self.firstctx.items()}
        self.safe, sets, self.verdicts = lambda p, ends: None, [facts for facts, _, _ in self.verdicts[::-4]], []
        for facts in sets:
            n, self.everfinal = model.Node('A'), {}
            n.facts = set(self.closed(facts))
            for _ in range(4):
                super().finalize(n)
            self.record(n)

    def line(self, number):
        names, replicas = list(self.members0) + [f.data for f in self.facts if f.kind == 'add'], list(self.firstctx)
        heads = lambda ids: sorted(ids - frozenset().union(*(self.facts[i].knows for i in ids)))
        ends = lambda counts: [x for r in replicas if r in counts for x in (replicas.index(r), counts[r])]
        about = [names.index(f.data) if f.data in names else f.prop for f in self.facts]
        facts = [[KINDS.index(f.kind), names.index(f.author), about[f.id], heads(f.knows)]
                 + [[names.index(d) for d in sorted(f.S)]] * (f.kind == 'propose')
                 + [ends(f.data or {})] * (f.kind == 'retire') for f in self.facts]
        verdicts = [[sorted(map(names.index, nodes)), heads(known), final, dead, [[p, ends(e)] for p, e in named],
                     ends(least), [names.index(d) for d in gone]]
                    for known, (final, dead, named, least, gone), nodes in self.verdicts]
        starts = [[names.index(r[0]), sum(x == r for x, _ in self.changes), heads(self.firstctx[r])] for r in replicas]
        return json.dumps([number, len(self.members0), starts, facts, verdicts], separators=(',', ':'))


for number in [*range(200), *range(1000, 1040)]:
    world = Recorded(number % 1000, model.RULES['fixed'])
    world.run()
    world.change(random.Random(number)) if number >= 1000 else None
    print(world.line(number))
