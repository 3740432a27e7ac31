/** Nodes of the log on etcd that each break one rule. */
import { EtcdLog } from '../../src/server/log/etcd/etcd-log.ts';
import type { GroupName } from '../../src/server/log/etcd/etcd-keys.ts';
import { EtcdProposer, type EtcdProposerOptions } from '../../src/server/log/etcd/etcd-proposer.ts';
import { EtcdReader, type EtcdReaderOptions } from '../../src/server/log/etcd/etcd-reader.ts';
import { EtcdTrimmer, type EtcdTrimmerOptions } from '../../src/server/log/etcd/etcd-trimmer.ts';

/** All starts of a site have one number, and go on counting where the log of the site ends. */
class EndlessProposer<R> extends EtcdProposer<R> {
  protected override chooseStart(): number {
    return 1;
  }

  protected override getFirst(): number {
    return this.options.copy.progress.get(this.options.site)?.next ?? 1;
  }
}

/** Sends a group before the one before it is stored. */
class HastyProposer<R> extends EtcdProposer<R> {
  protected override get maxUnstored(): number {
    return 2;
  }
}

/** Knows the starts of a site beside each other. */
class EveryStartLog<R> extends EtcdLog<R> {
  readonly #next = new Map<string, number>();

  protected override getExpected(name: GroupName): number | 'void' {
    const { site, start, last } = name;
    const key = `${site}/${start}`;
    const expected = super.getExpected(name);
    const known = expected === 'void' ? (this.#next.get(key) ?? 1) : expected;
    this.#next.set(key, Math.max(known, last + 1));
    return known;
  }
}

/** Takes what a start that has ended had on its way, whatever it was. */
class LenientLog<R> extends EtcdLog<R> {
  protected override getExpected(name: GroupName): number | 'void' {
    const expected = super.getExpected(name);
    return expected === 'void' ? name.last : expected;
  }
}

class BlindLog<R> extends EtcdLog<R> {
  protected override checkDigest(): boolean {
    return true;
  }

  protected override checkPlace(): boolean {
    return true;
  }
}

/** Asks no site what it has. */
class UnconfirmedLog<R> extends EtcdLog<R> {
  protected override hasAll(): boolean {
    return true;
  }
}

/** The last revision that the owner of a copy has heard of. */
const REVISIONS = new WeakMap<object, number>();

class RevisionProposer<R> extends EtcdProposer<R> {
  protected override get position(): number {
    return REVISIONS.get(this.options.copy) ?? 0;
  }
}

/** Writes at which revision it is, in the place of how much it has taken. */
class RevisionLog<R> extends EtcdLog<R> {
  override onReply(...[reply, nowMs]: Parameters<EtcdLog<R>['onReply']>): void {
    if ('revision' in reply) REVISIONS.set(this.copy, reply.revision);
    super.onReply(reply, nowMs);
  }

  protected override createProposer(
    options: EtcdProposerOptions<R>,
    start: number,
  ): EtcdProposer<R> {
    return new RevisionProposer(options, start);
  }
}

class UnsyncedLog<R> extends EtcdLog<R> {
  override takeOutputs(): ReturnType<EtcdLog<R>['takeOutputs']> {
    this.onSynced(this.copy.length);
    return super.takeOutputs();
  }
}

class GreedyTrimmer extends EtcdTrimmer {
  protected override getLeast(): number {
    return this.own;
  }
}

class BoldReader extends EtcdReader {
  protected override isBehind(): boolean {
    return false;
  }
}

/** Trims what others lack, and goes on behind what it lacks itself. */
class GaplessLog<R> extends EtcdLog<R> {
  protected override createTrimmer(options: EtcdTrimmerOptions): EtcdTrimmer {
    return new GreedyTrimmer(options);
  }

  protected override createReader(options: EtcdReaderOptions): EtcdReader {
    return new BoldReader(options);
  }

  protected override isGap(): boolean {
    return false;
  }

  protected override checkPlace(): boolean {
    return true;
  }
}

/** Has the keys of the log of `main`, whichever log it is. */
class MainKeysLog<R> extends EtcdLog<R> {
  constructor(...[options, ...found]: ConstructorParameters<typeof EtcdLog<R>>) {
    super({ ...options, partition: 0 }, ...found);
  }
}

const withProposer = (Proposer: typeof EtcdProposer): typeof EtcdLog =>
  class<R> extends EtcdLog<R> {
    protected override createProposer(
      options: EtcdProposerOptions<R>,
      start: number,
    ): EtcdProposer<R> {
      return new Proposer(options, start);
    }
  };

/** By name. */
export const BUGGY_ETCD_LOGS = {
  endlessNumbers: withProposer(EndlessProposer),
  hasty: withProposer(HastyProposer),
  everyStart: EveryStartLog,
  lenient: LenientLog,
  blind: BlindLog,
  unconfirmed: UnconfirmedLog,
  revisions: RevisionLog,
  unsynced: UnsyncedLog,
  gapless: GaplessLog,
  mainKeys: MainKeysLog,
} satisfies Readonly<Record<string, typeof EtcdLog>>;
