/**
 * One operation takes of two fields, and the pool has enough of one: it waits for the other one,
 * blue or red.
 */
import { expect, test } from 'vitest';
import type { Effect } from '../../../../../../src/server/service/records/effect.ts';
import type { GeneratorOutcome } from '../../../../../../src/server/service/generator/generator-runner.ts';
import { RightsShortfall } from '../../../../../../src/server/site/core/rights-port.ts';
import { siteAt } from '../../../../../support/origins.ts';
import { held, ledgerAt, pooled } from './sale.ts';

const AMOUNT = 5;

function taking(fields: readonly string[]): GeneratorOutcome {
  const effects = fields.map((field): Effect => ({
    table: 'events',
    key: 'E',
    field,
    action: 'take',
    value: AMOUNT,
  }));
  const reads = { names: new Set<string>(), ranges: [] };
  const choice = {
    shadow: 'sellBoth',
    color: 'blue',
    args: {},
    effects,
    reply: undefined,
  } as const;
  return { reads, choice, reply: { value: null } };
}

test('seats are in the pool and coats are not → of both it lacks some, of seats alone none', () => {
  const sites = pooled(12, 10);
  const { rights, state } = sites.machines[1] ?? {};
  if (rights === undefined || state === undefined) throw new Error('no rights');
  expect(
    [held(sites)[1], ledgerAt(sites, 1, 'coats').getHolding(siteAt(1))].every(
      (own) => Number(own) < AMOUNT,
    ),
  ).toBe(true);
  expect([ledgerAt(sites, 1).pool >= AMOUNT, ledgerAt(sites, 1, 'coats').pool]).toEqual([true, 0]);
  const [seats, both] = [taking(['seats']), taking(['seats', 'coats'])];
  expect(rights.resolvePath(seats)).toMatchObject({ choice: { color: 'red' } });
  expect(rights.resolvePath(both)).toBeInstanceOf(RightsShortfall);
  expect(rights.findRedShortfall(seats, state.store)).toBeUndefined();
  expect(rights.findRedShortfall(both, state.store)).toBeInstanceOf(RightsShortfall);
});
