import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { CorrectableError, createClient } from 'correctables';
import { CorrectablesProvider } from 'correctables/react';
import { scriptedBinding } from 'correctables/testing';
import { afterEach, expect, test } from 'vitest';
import { Bike } from './bike.tsx';
import { LEVELS } from './contract.ts';

afterEach(cleanup);

/** Shows the first bike to Ada. The test answers in the place of both servers. */
async function showBike() {
  const binding = scriptedBinding(LEVELS);
  render(
    <CorrectablesProvider client={createClient(binding)}>
      <Bike id={1} rider="Ada" />
    </CorrectablesProvider>,
  );
  return { binding, read: await binding.next() };
}

test('shows the view of the replica, then that of the primary', async () => {
  const { read } = await showBike();
  read.view({ name: 'Red', rider: null }, 'replica');
  await screen.findByText('free …');
  read.view({ name: 'Red', rider: 'Bob' }, 'primary');
  await screen.findByText('rented by Bob');
});

test('shows why a bike was not rented', async () => {
  const { binding, read } = await showBike();
  read.view({ name: 'Red', rider: null }, 'primary');
  fireEvent.click(await screen.findByText('Rent'));
  await screen.findByText('rented by Ada …'); // the guess
  const write = await binding.next();
  expect(write.operation.args).toEqual({ id: 1, rider: 'Ada' });
  write.view({ name: 'Red', rider: 'Bob' }, 'primary');
  await screen.findByText('Not yours: Bob was faster.');

  const again = await binding.next();
  again.view({ name: 'Red', rider: 'Bob' }, 'primary');
  await screen.findByText('rented by Bob');
});

test.each([
  { code: 'UNAVAILABLE', shown: 'Not rented (UNAVAILABLE)' },
  { code: 'UNKNOWN', shown: 'Not known (UNKNOWN)' },
] as const)('shows what $code means for a bike', async ({ code, shown }) => {
  const { binding, read } = await showBike();
  read.view({ name: 'Red', rider: null }, 'primary');
  fireEvent.click(await screen.findByText('Rent'));
  const write = await binding.next();
  write.fail(new CorrectableError(code, 'no answer'));
  await screen.findByText(shown);
});

test('reads again after a failure', async () => {
  const { binding, read } = await showBike();
  read.fail(new CorrectableError('UNAVAILABLE', 'no answer'));
  fireEvent.click(await screen.findByText('Try again'));
  const again = await binding.next();
  again.view({ name: 'Red', rider: null }, 'primary');
  await screen.findByText('free');
});
