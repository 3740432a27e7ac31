/** Reports invariants that operations break, while a service is being developed. */
import type { Effect } from '../../service/records/effect.ts';
import type { OperationId } from '../../service/records/records.ts';
import { performance } from 'node:perf_hooks';
import { InvariantCheck, type BrokenInvariant } from '../../site/core/invariant-check.ts';
import { RETURNED_PROMISE } from '../../service/invariants.ts';
import type { Service } from '../../service/service.ts';
import type { SiteState } from '../../site/core/site-state.ts';
import type { OnAlarm } from './site-alarm.ts';
import { isInDevelopment } from '../is-in-development.ts';

/** The maximum of reported rows that are remembered. A row that stays broken is reported once. */
const MAX_REPORTED_ROWS = 1000;

/**
 * Conditions on the whole snapshot may read everything. They get this share of the time, and may
 * save up this much of it.
 */
const CPU_SHARE = 0.05;
const MAX_SAVED_MS = 100;

/**
 * Whether invariants are checked by default. Without any invariant an observer would only take
 * time.
 */
export function hasInvariants({ invariants, snapshotInvariants }: Service): boolean {
  const count = Object.keys(invariants).length + Object.keys(snapshotInvariants).length;
  return isInDevelopment() && count > 0;
}

export interface InvariantObserver {
  onApplied(operation: AppliedChange, state: SiteState): void;
}

interface AppliedChange {
  readonly id: OperationId;
  readonly shadow?: string;
  readonly effects: readonly Effect[];
}

/** The advice for an operator about a broken invariant. */
const ADVICE =
  'Make the shadow operation red and let its generator check what it needs, or fix the invariant.';

/**
 * Reports once each row that breaks an invariant, and each condition on all tables that does not
 * hold.
 *
 * @param elapsedMs a monotonic clock
 */
export function createInvariantObserver(
  service: Service,
  site: string,
  onAlarm: OnAlarm,
  elapsedMs: () => number = () => performance.now(),
): InvariantObserver {
  const reported = new Set<string>();
  const report = (name: string, description: string, { error }: BrokenInvariant): void => {
    if (reported.has(name) || reported.size >= MAX_REPORTED_ROWS) return;
    reported.add(name);
    const instead = error === undefined ? '' : ` (the condition ${error})`;
    onAlarm({
      kind: 'invariant-broken',
      site,
      message: `Site ${site}: ${description}${instead}. ${ADVICE}`,
    });
  };
  const check = new InvariantCheck(service);
  const budget = new CpuBudget(elapsedMs);
  const hasConditions = Object.keys(service.snapshotInvariants).length > 0;
  /** Tables that have changed since the conditions were last checked. */
  const changed = new Set<string>();
  const checkConditions = ({ id, shadow, effects }: AppliedChange, state: SiteState): void => {
    for (const { table } of effects) changed.add(table);
    const found = budget.run(() => check.findBrokenConditions(changed, state));
    if (found === undefined) return;
    changed.clear();
    for (const broken of found) {
      const description = `"${broken.invariant}" does not hold of all tables after ${shadow} (${id}), or one just before it`;
      report(broken.invariant, description, broken);
    }
  };
  return {
    onApplied: (operation, state) => {
      const { id, shadow, effects } = operation;
      for (const broken of check.findBrokenRows(effects, state)) {
        const { table, key, invariant } = broken;
        const description = `${shadow} (${id}) left row '${key}' of ${table} without "${invariant}"`;
        // An invariant that returns a promise does so for every row.
        const name =
          broken.error === RETURNED_PROMISE ? [table, invariant] : [table, key, invariant];
        report(name.join('\n'), description, broken);
      }
      if (hasConditions) checkConditions(operation, state);
    },
  };
}

/** A budget of time, which refills as a share of the time that passes. */
class CpuBudget {
  readonly #elapsedMs: () => number;
  #availableMs = MAX_SAVED_MS;
  #sinceMs: number;

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
    this.#sinceMs = elapsedMs();
  }

  /**
   * Runs `work` if the budget allows it, and returns its result. Returns `undefined` if it did not
   * run.
   */
  run<T>(work: () => T): T | undefined {
    const begunMs = this.#elapsedMs();
    this.#availableMs = Math.min(
      MAX_SAVED_MS,
      this.#availableMs + (begunMs - this.#sinceMs) * CPU_SHARE,
    );
    this.#sinceMs = begunMs;
    if (this.#availableMs <= 0) return undefined;
    const value = work();
    this.#sinceMs = this.#elapsedMs();
    this.#availableMs -= this.#sinceMs - begunMs;
    return value;
  }
}
