import { expect, test } from 'vitest';
import { getOperationPlans } from '../../../../src/server/service/operation-plan.ts';
import { withColors, type Service } from '../../../../src/server/service/service.ts';
import { bankService } from '../site/services.ts';

const describePlan = (service: Service, name: string) => {
  const { isRead, isAlwaysRed, mayBeRed } = getOperationPlans(service).get(name)!;
  return { isRead, isAlwaysRed, mayBeRed };
};

test('plans: one service → the same plans for all its sites', () => {
  const service: Service = bankService('red') as unknown as Service;
  expect(getOperationPlans(service)).toBe(getOperationPlans(service));
  expect(describePlan(service, 'withdraw')).toEqual({
    isRead: false,
    isAlwaysRed: false,
    mayBeRed: true,
  });
  expect(describePlan(service, 'balance')).toEqual({
    isRead: true,
    isAlwaysRed: false,
    mayBeRed: false,
  });
});

test('plans: a copy of a service with other parts → plans with those parts', () => {
  const service: Service = bankService('red') as unknown as Service;
  const blueOne = withColors(service, { withdrawAck: 'blue' });
  expect(describePlan(blueOne, 'withdraw').mayBeRed).toBe(false);
  expect(
    describePlan({ ...service, alwaysRed: new Set(['withdraw']) }, 'withdraw').isAlwaysRed,
  ).toBe(true);

  const deposit = () => null;
  const changed = { ...service, generators: { ...service.generators, deposit } };
  expect(getOperationPlans(changed).get('deposit')?.generator).toBe(deposit);
  expect(getOperationPlans(service).get('deposit')?.generator).not.toBe(deposit);
});
