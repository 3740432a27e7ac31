/**
 * Measures the latencies of enqueues (Correctables, OSDI 2016, §6.2.2, Figure 9): a client in
 * Ireland, four placements of the server that it is connected to and of the leader. Baseline: a
 * plain create.
 */
import { createClient, type Client } from 'correctables';
import {
  zookeeper,
  type ZooKeeperBinding,
  type ZooKeeperLevels,
} from 'correctables/bindings/zookeeper';
import { enqueue } from 'correctables/operations';
import type { Ensemble } from '../../engines/zookeeper/ensemble.ts';
import { useEnsemble } from '../../engines/zookeeper/engine.ts';
import { roundTripMs, type Site } from '../../engines/wan.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { rounded, spread } from '../harness/statistics.ts';
import { versionOfEngine } from '../harness/provenance.ts';
import {
  computeGoalResults,
  measureRounds,
  preliminaryVsRoundTrip,
  type Extent,
  type Round,
} from './latency-rounds.ts';
import { SessionPair } from './session-pair.ts';

const CLIENT: Site = 'ireland';
/** The content of an item, as in the paper: an identifier of up to 20 bytes. */
const ITEM = 'ticket-0000000001';

interface Placement {
  readonly server: Site;
  readonly leader: Site;
}

const PLACEMENTS: readonly Placement[] = [
  { server: 'ireland', leader: 'ireland' },
  { server: 'frankfurt', leader: 'ireland' },
  { server: 'ireland', leader: 'virginia' },
  { server: 'virginia', leader: 'ireland' },
];

export const zookeeperLatency: Bench = {
  name: 'zookeeper-latency',
  about:
    'enqueues on a real ensemble: preliminary and final view beside a plain create, four placements',
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const extent: Extent = quick
    ? { rounds: 2, looks: 1, operations: 8 }
    : { rounds: 7, operations: 40 };
  const used = [
    await useEnsemble({ leader: 'ireland', wan: 'paper' }, progress),
    await useEnsemble({ leader: 'virginia', wan: 'paper' }, progress),
  ];
  const contenders = await Promise.all(
    PLACEMENTS.map((placement) => {
      const { ensemble } =
        used.find((item) => item.ensemble.state.layout.leader === placement.leader) ?? used[0]!;
      return Contender.open(ensemble, placement);
    }),
  );
  let samples: readonly (readonly Round[])[];
  try {
    for (const contender of contenders) await contender.measure(Math.min(extent.operations, 5));
    samples = await measureRounds(contenders, extent, progress);
  } finally {
    await Promise.all(contenders.map((contender) => contender.close()));
    await Promise.all(used.map(({ stop }) => stop()));
  }
  const rows = PLACEMENTS.map((placement, at) => rowOf(placement, samples[at] as readonly Round[]));
  return {
    versions: versionOfEngine('zookeeper'),
    rounds: samples[0]?.length ?? 0,
    rows,
    bars: computeGoalResults(samples),
    samples: PLACEMENTS.map((placement, at) => ({ ...placement, rounds: samples[at] })),
  };
}

/** One placement: the sessions whose enqueues are timed. */
class Contender {
  readonly awayMs: number;
  readonly #plain: SessionPair;
  readonly #binding: ZooKeeperBinding;
  readonly #client: Client<ZooKeeperLevels>;
  readonly #path: string;

  constructor(address: string, placement: Placement) {
    this.awayMs = roundTripMs('paper', CLIENT, placement.server);
    this.#path = `/latency-${placement.server}-${Date.now()}`;
    this.#plain = new SessionPair(address);
    this.#binding = zookeeper({ servers: address, root: `${this.#path}-ours` });
    this.#client = createClient(this.#binding);
  }

  static async open(ensemble: Ensemble, placement: Placement): Promise<Contender> {
    const contender = new Contender(ensemble.address(placement.server, CLIENT), placement);
    await contender.#plain.create(contender.#path, null);
    await contender.#client.invoke(enqueue('queue', ITEM));
    return contender;
  }

  /** Times so many enqueues of each kind, in turn. */
  async measure(operations: number): Promise<Round> {
    const times = { roundTripMs: 0, plainMs: 0, preliminaryMs: 0, finalMs: 0 };
    const sums = { ...times, preliminaryViews: 0, measurePlainData: 0, bytes: 0 };
    for (let n = 0; n < operations; n += 1) {
      // The smallest request to the same server through the same proxy.
      sums.roundTripMs += await timed(() => this.#plain.reader.exists('/'));
      const plainBefore = this.#plain.bytes;
      sums.plainMs += await timed(() =>
        this.#plain.create(`${this.#path}/-`, JSON.stringify(ITEM), {
          mode: 'persistent-sequential',
        }),
      );
      sums.measurePlainData += this.#plain.bytes - plainBefore;
      const before = total(this.#binding.bytes);
      const from = performance.now();
      for await (const view of this.#client.invoke(enqueue('queue', ITEM))) {
        sums[view.final ? 'finalMs' : 'preliminaryMs'] += performance.now() - from;
        if (!view.final) sums.preliminaryViews += 1;
      }
      sums.bytes += total(this.#binding.bytes) - before;
    }
    return Object.fromEntries(
      Object.entries(sums).map(([name, sum]) => [name, sum / operations]),
    ) as unknown as Round;
  }

  async close(): Promise<void> {
    await Promise.all([this.#plain.close(), this.#client.close()]);
  }
}

async function timed(action: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await action();
  return performance.now() - from;
}

function total({ sent, received }: { readonly sent: number; readonly received: number }): number {
  return sent + received;
}

function rowOf({ server, leader }: Placement, rounds: readonly Round[]) {
  const over = (name: keyof Round): ReturnType<typeof spread> =>
    spread(rounds.map((round) => round[name]));
  const [roundTrip, preliminary, final, plain] = [
    over('roundTripMs').median,
    over('preliminaryMs'),
    over('finalMs'),
    over('plainMs'),
  ];
  return {
    client: CLIENT,
    server,
    leader,
    roundTripMs: rounded(roundTrip),
    preliminaryMs: rounded(preliminary.median),
    finalMs: rounded(final.median),
    plainMs: rounded(plain.median),
    preliminaryVsRoundTrip: rounded(spread(rounds.map(preliminaryVsRoundTrip)).median),
    bytesPerEnqueue: rounded(over('bytes').median),
    plainBytesPerEnqueue: rounded(over('measurePlainData').median),
    ranges: { preliminary, final, plain },
  };
}
