/**
 * The ticket shop's service with a throttle. It makes early views safe by a bound, not only by a
 * fixed threshold.
 */
import { serviceAt } from '../tickets/service.ts';
import { THROTTLE } from '../tickets/throttle.ts';

export const service = serviceAt(THROTTLE);
