/**
 * Removes from etcd what all sites have in their checkpoints. First it writes down up to where: a
 * site that lacks some of it can then notice. Then it deletes the groups, and compacts. One site
 * does that, the first of the members.
 */
import type { LogMark } from '../log-copy.ts';
import type { Origin } from '../../service/records/origin.ts';
import type { EtcdCalls } from './etcd-calls.ts';
import type { EtcdCall } from './etcd-requests.ts';
import type { EtcdKeys } from './etcd-keys.ts';

export interface EtcdTrimmerOptions {
  readonly site: Origin;
  readonly keys: EtcdKeys;
  readonly calls: EtcdCalls;
  readonly copy: {
    readonly delivered: number;
    readonly marks: readonly LogMark[];
  };
}

const NO_BYTES = new Uint8Array(0);

export class EtcdTrimmer {
  readonly #options: EtcdTrimmerOptions;
  /** Up to where each other site has the log in a checkpoint, by its last message. */
  readonly #checkpointed = new Map<Origin, number>();
  #own: number;
  #trimmed = 0;
  #steps: EtcdCall[] = [];
  #isTrimming = false;
  /** The revision of a compaction that is not done yet, and why it has failed. */
  #uncompacted: number | undefined;
  #problem: string | undefined;

  constructor(options: EtcdTrimmerOptions) {
    this.#options = options;
    this.#own = options.copy.delivered;
  }

  /** Up to where this site has the log in a checkpoint. */
  get own(): number {
    return this.#own;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  release(position: number): void {
    this.#own = Math.max(this.#own, position);
  }

  onHeard(site: Origin, checkpointed: number): void {
    this.#checkpointed.set(site, checkpointed);
  }

  stop(): void {
    this.#isTrimming = false;
  }

  /** Begins if there is something to trim. A site that is left behind is no member here. */
  trim(members: readonly Origin[]): void {
    const { site, keys, copy } = this.#options;
    if (this.#isTrimming || members[0] !== site) return;
    const least = this.getLeast(members);
    const mark = copy.marks.findLast(({ position }) => position <= least);
    if (mark === undefined || mark.position <= this.#trimmed) return this.#compact();
    const { position, progress } = mark;
    const trim = keys.formatTrim(position);
    this.#isTrimming = true;
    this.#steps = [
      { kind: 'etcd.create', key: trim, value: NO_BYTES },
      ...[...progress].map(([origin, { epoch, next }]) => {
        const [key, end] = [keys.formatGroup(origin, 0, 0), keys.formatGroup(origin, epoch, next)];
        return { kind: 'etcd.delete', key, end } as const;
      }),
      ...(this.#trimmed === 0 ? keys.earlier : []).map(
        (range) => ({ kind: 'etcd.delete', ...range }) as const,
      ),
      { kind: 'etcd.delete', key: keys.trims.key, end: trim },
    ];
    this.#takeStep(position);
  }

  /** All members have that much in their checkpoints. */
  getLeast(members: readonly Origin[]): number {
    const { site } = this.#options;
    const others = members.filter((member) => member !== site);
    return Math.min(this.#own, ...others.map((member) => this.#checkpointed.get(member) ?? 0));
  }

  #takeStep(position: number): void {
    const step = this.#steps.shift();
    if (step === undefined) return;
    this.#options.calls.call(step, (answer) => {
      if (answer.kind === 'etcd.failed') return this.stop();
      if (this.#steps.length > 0 || answer.kind !== 'etcd.deleted') return this.#takeStep(position);
      this.#trimmed = position;
      this.#uncompacted = answer.revision;
      this.#compact();
    });
  }

  /** If it fails, it is repeated: without it etcd frees nothing, and no later trim may come. */
  #compact(): void {
    if (this.#uncompacted === undefined) return;
    this.#isTrimming = true;
    this.#options.calls.call({ kind: 'etcd.compact', revision: this.#uncompacted }, (answer) => {
      this.stop();
      this.#problem =
        answer.kind === 'etcd.failed' && answer.reason !== 'compacted' ? answer.message : undefined;
      if (this.#problem === undefined) this.#uncompacted = undefined;
    });
  }
}
