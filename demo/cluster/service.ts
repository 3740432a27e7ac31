/** The ticket shop as each node serves it, at a pace that lets early views be safe without trusting the threshold alone. */
import { serviceAt } from '../tickets/service.ts';
import { THROTTLE } from '../tickets/throttle.ts';

export const service = serviceAt(THROTTLE);
