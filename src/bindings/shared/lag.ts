/** How far a view may be behind the newest state of its store. */
import type { ViewDetails } from '../../correctable/binding.ts';
import { checkRecord } from '../../correctable/validate.ts';

/**
 * Returns how far the state of a view may be behind the primary, in milliseconds: 0 for a view of
 * the primary, `NaN` if it is unknown. No comparison with `NaN` is true, so code that compares
 * waits for the final.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `view` is no view
 * @example
 * const { value } = await store
 *   .invoke(get('user:7'))
 *   .settle({ enough: (view) => getLagMs(view) < 500 });
 */
export function getLagMs(view: Pick<ViewDetails, 'meta'>): number {
  checkRecord(view, { call: 'getLagMs(view)', field: 'view' });
  const reported = view.meta?.['lagMs'];
  return typeof reported === 'number' ? reported : NaN;
}
