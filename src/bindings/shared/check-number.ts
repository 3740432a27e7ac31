/** Checks numbers in options and arguments. Throws `INVALID_ARGUMENT` that names the field. */
import { check } from '../../correctable/errors.ts';

export function checkCount(field: string, value: number): number {
  check(Number.isInteger(value) && value > 0, field, 'give an integer above 0');
  return value;
}

export function checkDuration(field: string, value: number): number {
  const isDuration = typeof value === 'number' && value >= 0 && value < Infinity;
  check(isDuration, field, 'give a number of milliseconds, 0 or more');
  return value;
}
