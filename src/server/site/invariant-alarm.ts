/** Tells of invariants that operations break, while a service is being developed. */
import { InvariantCheck } from '../replica/core/invariants.ts';
import type { RedOperation } from '../records/records.ts';
import type { Service } from '../service/service.ts';
import type { SiteState } from '../replica/core/site-state.ts';
import type { OnAlarm } from '../alarms/site-alarm.ts';

/** Rows of which it remembers that they were told of: one that stays broken is told once. */
const TOLD_MAX = 1000;

/** Whether invariants are checked unless it is said: an observer that has nothing to look at would only take time. */
export function areChecked({ invariants }: Service): boolean {
  return process.env['NODE_ENV'] !== 'production' && Object.keys(invariants).length > 0;
}

/** Looks at each row that an operation has changed at a site. */
export interface InvariantObserver {
  applied(operation: Pick<RedOperation, 'id' | 'shadow' | 'effects'>, state: SiteState): void;
}

/** Tells of each row that is not as the service says, once. */
export function invariantObserver(service: Service, site: string, onAlarm: OnAlarm): InvariantObserver {
  const check = new InvariantCheck(service);
  const told = new Set<string>();
  return {
    applied: ({ id, shadow, effects }, state) => {
      for (const { table, key, invariant, error } of check.brokenBy(effects, state)) {
        const row = `${table}\n${key}\n${invariant}`;
        if (told.has(row) || told.size >= TOLD_MAX) continue;
        told.add(row);
        const threw = error === undefined ? '' : ` (the condition threw: ${error})`;
        const message = `Site ${site}: ${shadow} (${id}) left row '${key}' of ${table} without "${invariant}"${threw}. Make the shadow operation red and let its generator check what it needs, or mend the invariant.`;
        onAlarm({ kind: 'invariant-broken', site, message });
      }
    },
  };
}
