/** Reports invariants that operations break, while a service is being developed. */
import { performance } from 'node:perf_hooks';
import { RowInvariantCheck } from '../replica/core/row-invariants.ts';
import type { BrokenInvariant } from '../replica/core/row-invariants.ts';
import { SnapshotInvariantCheck } from '../replica/core/snapshot-invariants.ts';
import type { RedOperation } from '../records/records.ts';
import { RETURNED_PROMISE } from '../service/invariants.ts';
import type { Service } from '../service/service.ts';
import type { SiteState } from '../replica/core/site-state.ts';
import type { OnAlarm } from '../alarms/site-alarm.ts';
import { isInDevelopment } from './is-in-development.ts';
import { CpuBudget } from './cpu-budget.ts';

/** How many reported rows it remembers: a row that stays broken is reported once. */
const MAX_REPORTED_ROWS = 1000;

/** A condition on the whole snapshot may read all that there is: a twentieth of a site's time, after a tenth of a second. */
const SNAPSHOT_CPU_BUDGET = { share: 0.05, maxSavedMs: 100 };

/** Whether invariants are checked unless it is said: an observer that has nothing to look at would only take time. */
export function hasInvariants({ invariants, snapshotInvariants }: Service): boolean {
  const count = Object.keys(invariants).length + Object.keys(snapshotInvariants).length;
  return isInDevelopment() && count > 0;
}

/** Looks at what an operation has changed at a site. */
export interface InvariantObserver {
  onApplied(operation: AppliedChange, state: SiteState): void;
}

type AppliedChange = Pick<RedOperation, 'id' | 'shadow' | 'effects'>;

/** What an operator does about a broken invariant. */
const ADVICE = 'Make the shadow operation red and let its generator check what it needs, or fix the invariant.';

/**
 * Reports each row that breaks an invariant, and each condition on all tables that does not hold, once. `elapsedMs` is
 * a monotonic clock.
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
    onAlarm({ kind: 'invariant-broken', site, message: `Site ${site}: ${description}${instead}. ${ADVICE}` });
  };
  const rows = new RowInvariantCheck(service);
  const looksAtAll = Object.keys(service.snapshotInvariants).length > 0;
  const snapshot = looksAtAll ? createSnapshotObserver(service, elapsedMs, report) : undefined;
  return {
    onApplied: (operation, state) => {
      const { id, shadow, effects } = operation;
      for (const broken of rows.findBroken(effects, state)) {
        const { table, key, invariant } = broken;
        const description = `${shadow} (${id}) left row '${key}' of ${table} without "${invariant}"`;
        // A promise is there whatever the row.
        const name = broken.error === RETURNED_PROMISE ? [table, invariant] : [table, key, invariant];
        report(name.join('\n'), description, broken);
      }
      snapshot?.onApplied(operation, state);
    },
  };
}

type ReportBroken = (name: string, description: string, broken: BrokenInvariant) => void;

/** Invariants that there was no time to check are checked with the next operation. */
function createSnapshotObserver(service: Service, elapsedMs: () => number, report: ReportBroken): InvariantObserver {
  const check = new SnapshotInvariantCheck(service);
  const time = new CpuBudget(SNAPSHOT_CPU_BUDGET, elapsedMs);
  const changed = new Set<string>();
  return {
    onApplied: ({ id, shadow, effects }, state) => {
      for (const { table } of effects) changed.add(table);
      const found = time.run(() => check.findBroken(changed, state));
      if (found === undefined) return;
      changed.clear();
      for (const broken of found) {
        const description = `"${broken.invariant}" does not hold of all tables after ${shadow} (${id}), or one just before it`;
        report(broken.invariant, description, broken);
      }
    },
  };
}
