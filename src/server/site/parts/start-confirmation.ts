/**
 * Whether a start of a site may answer updates: another site has to confirm it first, if the
 * deployment says so. A node on an older directory stops instead (docs/spec/cluster.md, CLU-I8).
 */
import type { NodeMessage } from '../wire/envelope.ts';
import type { NodeHandshake } from '../wire/node-handshake.ts';
import type { Origin } from '../../service/records/origin.ts';
import type { EarlyUpdates } from './early-updates.ts';
import type { SiteEvent } from '../ready.ts';
import type { SiteOptions } from '../site-options.ts';

export class StartConfirmation {
  readonly #options: SiteOptions;
  readonly #early: EarlyUpdates;
  readonly #handshake: NodeHandshake;
  readonly #notify: (event: SiteEvent) => void;
  #lacking: string | undefined;

  constructor(
    options: SiteOptions,
    early: EarlyUpdates,
    handshake: NodeHandshake,
    notify: (event: SiteEvent) => void,
  ) {
    this.#options = options;
    this.#early = early;
    this.#handshake = handshake;
    this.#notify = notify;
  }

  receive(from: Origin, epoch: number, message: NodeMessage, nowMs: number): void {
    this.#handshake.receive(from, epoch, message);
    if (this.#handshake.isConfirmed) this.#confirm(nowMs);
  }

  /** While no other site has confirmed the start, updates wait. */
  tick(nowMs: number): void {
    if (!this.#early.isUnconfirmed) return;
    const { origins, site } = this.#options;
    // The others may have been retired meanwhile.
    if (origins.getOthers(site).length === 0) return this.#confirm(nowMs);
    this.#handshake.tick(nowMs);
    if (this.#early.refuseAfter(nowMs)) this.#notify({ kind: 'alone' });
  }

  /** The site lacks something that no other site keeps for it any more. */
  noteBehind(lacking: string): void {
    if (this.#lacking !== undefined) return;
    this.#lacking = `the site lacks ${lacking} that no other site keeps for it any more: it needs the state of one`;
    // A node on an older directory has to stop first: with the state of another site it would not
    // notice that it is one.
    if (!this.#early.isUnconfirmed) this.#reportBehind(this.#lacking);
  }

  #confirm(nowMs: number): void {
    if (this.#early.isUnconfirmed && this.#lacking !== undefined) this.#reportBehind(this.#lacking);
    this.#early.release(nowMs);
  }

  #reportBehind(message: string): void {
    this.#notify({ kind: 'behind', message });
  }
}
