/**
 * After a restart, a site shows the blue operations that it had answered before a client asks it
 * for anything. So it needs no other site for that.
 */
import type { OperationId } from '../../../src/server/service/records/records.ts';
import type { Origin } from '../../../src/server/service/records/origin.ts';
import {
  assertProperty,
  isRed,
  SiteChecker,
  type AnyOperation,
  type ClientSubmission,
  type ClientView,
  type SiteEvent,
} from '../../../src/testing/simulator/checkers/checker.ts';

type Identifiers = ReadonlySet<OperationId>;

const NONE: Identifiers = new Set();

/**
 * Its notes are the blue operations that a site shows: a site that takes the state of another one
 * has the notes of that.
 */
export class RestartChecker extends SiteChecker<Set<OperationId>> {
  readonly name = 'restarts';
  /** The sites of all blue operations. */
  readonly #origins = new Map<OperationId, Origin>();
  /** By site: its blue operations that it has answered. */
  readonly #answered = new Map<Origin, Set<OperationId>>();
  /** By site: those that it does not show again yet. */
  readonly #missing = new Map<Origin, Set<OperationId>>();

  constructor() {
    super((saved) => new Set(saved));
  }

  override onStarted(site: Origin, saved?: Set<OperationId>): void {
    super.onStarted(site, saved);
    const shown = this.getState(site);
    const answered = [...(this.#answered.get(site) ?? NONE)];
    this.#missing.set(site, new Set(answered.filter((id) => !shown.has(id))));
  }

  onApplied(site: Origin, operation: AnyOperation): void {
    if (isRed(operation)) return;
    this.#origins.set(operation.id, operation.site);
    this.getState(site).add(operation.id);
    this.#missing.get(site)?.delete(operation.id);
  }

  onView({ site, operation: { id }, stage }: ClientView): void {
    const isOwn = this.#origins.get(id) === site && this.getState(site).has(id);
    if (stage === 'tentative' || !isOwn) return;
    const answered = this.#answered.get(site) ?? new Set();
    this.#answered.set(site, answered.add(id));
  }

  onSiteEvent(site: Origin, event: SiteEvent): void {
    if (event === 'crashed') this.#missing.delete(site);
  }

  onSubmitted({ site }: ClientSubmission): void {
    const missing = this.#missing.get(site) ?? NONE;
    assertProperty(
      missing.size === 0,
      () =>
        `site ${site} had answered ${[...missing].join()}, and does not show it after its restart`,
    );
  }
}
