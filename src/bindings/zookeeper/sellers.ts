/**
 * Who else takes from queues, and how fast: each binding that takes says its pace in the node that says that it is alive.
 * The list is that of the reader's server, as is the state of which estimates are made: whoever has not been heard of here
 * by then has begun within the time that agreement takes.
 */
import { AgreementTime } from '../../correctable/pace/agreement-time.ts';
import { unseenMax, type Elsewhere, type Pace } from '../../correctable/pace/unseen.ts';
import { insteadOf, isZooKeeperError } from './client/errors.ts';
import type { ZooKeeper } from './client/zookeeper.ts';
import type { Paths } from './paths.ts';
import type { Sessions } from './sessions.ts';

interface Known {
  readonly reader: ZooKeeper;
  readonly others: readonly Pace[];
}

export class Sellers {
  /** Of the claims of this binding. */
  readonly agreement: AgreementTime = new AgreementTime();
  readonly #sessions: Sessions;
  readonly #paths: Paths;
  #known: Known | undefined;
  #looking: Promise<void> | undefined;

  constructor(sessions: Sessions, paths: Paths) {
    this.#sessions = sessions;
    this.#paths = paths;
  }

  /** What an estimate of now cannot know of; undefined while not even that is known. */
  get elsewhere(): Elsewhere | undefined {
    const { reader, writer } = this.#sessions;
    if (this.#known?.reader !== reader) {
      void this.look();
      return undefined;
    }
    // Claims wait for a connection, and nothing tells how long.
    if (writer.state !== 'connected') return undefined;
    const { others } = this.#known;
    const withinMs = others.length === 0 ? 0 : this.agreement.withinMs(performance.now());
    return withinMs === undefined ? undefined : { withinMs, others };
  }

  /** The smallest threshold that is safe now, after the server has caught up. */
  async leastThreshold(): Promise<number> {
    await this.#sessions.persist('reader', (zk) => zk.sync(this.#paths.consumers));
    await this.look();
    const { elsewhere } = this;
    return elsewhere === undefined ? Infinity : unseenMax(elsewhere);
  }

  /** Finds out who is there, unless that is known. A look that fails is taken again by the next who asks. */
  async look(): Promise<void> {
    if (this.#known?.reader === this.#sessions.reader) return;
    this.#looking ??= this.#look(this.#sessions.reader)
      .catch(() => {})
      .finally(() => (this.#looking = undefined));
    await this.#looking;
  }

  async #look(reader: ZooKeeper): Promise<void> {
    let isOld = false;
    // Told before anything can be read here that comes after the change.
    const watch = (): void => {
      isOld = true;
      this.#known = undefined;
    };
    const names = await this.#names(reader, watch);
    const others = names.filter((name) => name !== this.#sessions.consumer);
    const paces = await Promise.all(others.map((name) => this.#paceOf(reader, name)));
    if (!isOld) this.#known = { reader, others: paces.filter((pace) => pace !== undefined) };
  }

  async #names(reader: ZooKeeper, watch: () => void): Promise<readonly string[]> {
    const { consumers } = this.#paths;
    try {
      return (await reader.children(consumers, { watch })).children;
    } catch (error) {
      if (!isZooKeeperError(error, 'NO_NODE')) throw error;
      if ((await reader.exists(consumers, { watch })) !== null) throw error;
      return [];
    }
  }

  /** Undefined where the binding is gone. */
  async #paceOf(reader: ZooKeeper, consumer: string): Promise<Pace | undefined> {
    const node = await reader.get(this.#paths.consumer(consumer)).catch(insteadOf('NO_NODE', undefined));
    return node && paceFrom(node.data);
  }
}

/** The pace in the node that says that a binding is alive. If it gives none, nothing bounds it. */
function paceFrom(data: Uint8Array | null): Pace {
  try {
    const { window, turnMs } = JSON.parse(new TextDecoder().decode(data ?? new Uint8Array(0))) as Partial<Pace>;
    if (isCount(window) && isCount(turnMs)) return { window, turnMs };
  } catch {}
  return { window: Infinity, turnMs: 0 };
}

function isCount(given: unknown): given is number {
  return typeof given === 'number' && given >= 0;
}
