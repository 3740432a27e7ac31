/**
 * The digest of a run: of all messages with their bytes, of all operations at each site, and of all
 * replies, each in their order. A change of the code that is meant to change nothing leaves the
 * digests of all runs equal.
 */
import { createHash, type Hash } from 'node:crypto';
import type { Origin } from '../../src/server/service/records/origin.ts';
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
  readonly #messages = createHash('sha256');
  readonly #operations = createHash('sha256');
  readonly #replies = createHash('sha256');

  onStarted(site: Origin, saved?: unknown): void {
    add(this.#operations, 'started', site, saved !== undefined);
  }

  onSiteEvent(site: Origin, event: SiteEvent): void {
    add(this.#operations, 'event', site, event);
  }

  onMessageEnd({ message, sentAtMs, fate }: MessageEnd): void {
    const { from, to, kind, bytes } = message;
    add(this.#messages, 'message', from, to, kind, sentAtMs, fate);
    this.#messages.update(bytes);
  }

  onCreated(site: Origin, operation: AnyOperation): void {
    add(this.#operations, 'created', site, nameOf(operation));
  }

  onApplied(site: Origin, operation: AnyOperation): void {
    add(this.#operations, 'applied', site, nameOf(operation));
  }

  onRejected(site: Origin, operation: AnyOperation): void {
    add(this.#operations, 'rejected', site, nameOf(operation));
  }

  onSubmissionEvent({ site, serial, stage, code, isEnd }: SubmissionEvent): void {
    add(this.#replies, 'answer', site, serial, stage, code, isEnd);
  }

  onView({ site, serial, stage, value, meta }: ClientView): void {
    add(this.#replies, 'view', site, serial, stage, value, meta);
  }

  /** Returns the digest. Nothing can be added after it. */
  finish(): string {
    const parts = [this.#messages, this.#operations, this.#replies];
    return parts.map((hash) => hash.digest('base64url').slice(0, 16)).join('.');
  }
}

function add(hash: Hash, ...parts: readonly unknown[]): void {
  hash.update(`${JSON.stringify(parts)}\n`);
}

function nameOf(operation: AnyOperation): string {
  return isRed(operation) ? getExecutionName(operation) : `${operation.site}/${operation.sequence}`;
}
