/** Tells of invariants that operations break, while a service is being developed. */
import { performance } from 'node:perf_hooks';
import { InvariantCheck } from '../replica/core/invariants.ts';
import type { BrokenInvariant } from '../replica/core/invariants.ts';
import { SnapshotCheck } from '../replica/core/snapshot-invariants.ts';
import type { RedOperation } from '../records/records.ts';
import { GAVE_PROMISE } from '../service/invariants.ts';
import type { Service } from '../service/service.ts';
import type { SiteState } from '../replica/core/site-state.ts';
import type { OnAlarm } from '../alarms/site-alarm.ts';
import { isInDevelopment } from './development.ts';
import { TimeShare } from './time-share.ts';

/** Rows of which it remembers that they were told of: one that stays broken is told once. */
const TOLD_MAX = 1000;

/** A condition on the whole snapshot may read all that there is: a twentieth of a site's time, after a tenth of a second. */
const SNAPSHOT_TIME = { share: 0.05, savedMaxMs: 100 };

/** Whether invariants are checked unless it is said: an observer that has nothing to look at would only take time. */
export function areChecked({ invariants, snapshotInvariants }: Service): boolean {
  const count = Object.keys(invariants).length + Object.keys(snapshotInvariants).length;
  return isInDevelopment() && count > 0;
}

/** Looks at what an operation has changed at a site. */
export interface InvariantObserver {
  applied(operation: Applied, state: SiteState): void;
}

type Applied = Pick<RedOperation, 'id' | 'shadow' | 'effects'>;

/** What an operator does about a broken invariant. */
const ADVICE = 'Make the shadow operation red and let its generator check what it needs, or mend the invariant.';

/**
 * Tells of each row that is not as the service says, and of each condition on all tables that does not hold, once.
 * `elapsedMs` is a clock that nobody sets.
 */
export function invariantObserver(
  service: Service,
  site: string,
  onAlarm: OnAlarm,
  elapsedMs: () => number = () => performance.now(),
): InvariantObserver {
  const told = new Set<string>();
  const tell = (name: string, what: string, { error }: BrokenInvariant): void => {
    if (told.has(name) || told.size >= TOLD_MAX) return;
    told.add(name);
    const instead = error === undefined ? '' : ` (the condition ${error})`;
    onAlarm({ kind: 'invariant-broken', site, message: `Site ${site}: ${what}${instead}. ${ADVICE}` });
  };
  const rows = new InvariantCheck(service);
  const looksAtAll = Object.keys(service.snapshotInvariants).length > 0;
  const snapshot = looksAtAll ? snapshotObserver(service, elapsedMs, tell) : undefined;
  return {
    applied: (operation, state) => {
      const { id, shadow, effects } = operation;
      for (const broken of rows.brokenBy(effects, state)) {
        const { table, key, invariant } = broken;
        const what = `${shadow} (${id}) left row '${key}' of ${table} without "${invariant}"`;
        // A promise is there whatever the row.
        const name = broken.error === GAVE_PROMISE ? [table, invariant] : [table, key, invariant];
        tell(name.join('\n'), what, broken);
      }
      snapshot?.applied(operation, state);
    },
  };
}

type Tell = (name: string, what: string, broken: BrokenInvariant) => void;

/** What there was no time to look at is looked at with the next operation. */
function snapshotObserver(service: Service, elapsedMs: () => number, tell: Tell): InvariantObserver {
  const check = new SnapshotCheck(service);
  const time = new TimeShare(SNAPSHOT_TIME, elapsedMs);
  const changed = new Set<string>();
  return {
    applied: ({ id, shadow, effects }, state) => {
      for (const { table } of effects) changed.add(table);
      const found = time.run(() => check.brokenBy(changed, state));
      if (found === undefined) return;
      changed.clear();
      for (const broken of found) {
        const what = `"${broken.invariant}" does not hold of all tables after ${shadow} (${id}), or one just before it`;
        tell(broken.invariant, what, broken);
      }
    },
  };
}
