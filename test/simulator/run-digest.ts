/**
 * The digest of a run: of each message with its bytes, of each operation at each site, and of each
 * reply. A change of the code that is meant to change nothing leaves the digests of all runs equal.
 */
import { createHash } from 'node:crypto';
import type { Origin } from '../../src/server/records/origin.ts';
import {
  getExecutionName,
  isRed,
  type AnyOperation,
  type Checker,
  type ClientView,
  type SiteEvent,
  type SubmissionEvent,
} from '../../src/testing/simulator/checkers/checker.ts';
import type { MessageEnd } from '../../src/testing/simulator/network.ts';

export class RunDigest implements Checker {
  readonly name = 'digest';
  readonly #hash = createHash('sha256');

  onStarted(site: Origin, saved?: unknown): void {
    this.#add('started', site, saved !== undefined);
  }

  onSiteEvent(site: Origin, event: SiteEvent): void {
    this.#add('event', site, event);
  }

  onMessageEnd({ message, sentAtMs, fate }: MessageEnd): void {
    const { from, to, kind, bytes } = message;
    this.#add('message', from, to, kind, sentAtMs, fate);
    this.#hash.update(bytes);
  }

  onCreated(site: Origin, operation: AnyOperation): void {
    this.#add('created', site, nameOf(operation));
  }

  onApplied(site: Origin, operation: AnyOperation): void {
    this.#add('applied', site, nameOf(operation));
  }

  onRejected(site: Origin, operation: AnyOperation): void {
    this.#add('rejected', site, nameOf(operation));
  }

  onSubmissionEvent({ site, serial, stage, code, isEnd }: SubmissionEvent): void {
    this.#add('answer', site, serial, stage, code, isEnd);
  }

  onView({ site, serial, stage, value, meta }: ClientView): void {
    this.#add('view', site, serial, stage, value, meta);
  }

  /** Returns the digest. Nothing can be added after it. */
  finish(): string {
    return this.#hash.digest('hex');
  }

  #add(...parts: readonly unknown[]): void {
    this.#hash.update(`${JSON.stringify(parts)}\n`);
  }
}

function nameOf(operation: AnyOperation): string {
  return isRed(operation) ? getExecutionName(operation) : `${operation.site}/${operation.sequence}`;
}
