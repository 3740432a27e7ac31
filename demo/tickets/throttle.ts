/**
 * The throttle of each site. It bounds how many tickets a site may have sold unknown to the others,
 * and how many customers it serves at a time.
 */
import type { Throttle } from 'correctables/operations';

export const THROTTLE: Throttle = { maxInFlight: 10, minSlotIntervalMs: 40 };
