/**
 * The page's address: defaults, what it takes, what it refuses by name, and invitations to other
 * tabs.
 */
import { expect, test } from 'vitest';
import { inviteTo, settingsFrom } from '../../../demo/tickets/page/settings.ts';

const read = (query: string): ReturnType<typeof settingsFrom> =>
  settingsFrom(new URLSearchParams(query));

test('settings: an empty address → the documented defaults', () => {
  expect(read('')).toEqual({
    tickets: 500,
    threshold: 20,
    paceMs: 80,
    retailers: ['frankfurt', 'ireland', 'virginia', 'frankfurt'],
    compare: true,
    sales: 1,
    event: undefined,
    autostart: true,
  });
});

test('settings: everything given → taken', () => {
  const query =
    'tickets=60&threshold=0&pace=5&retailers=frankfurt,ireland&compare=0&sales=5&event=concert-7&autostart=0';
  expect(read(query)).toEqual({
    tickets: 60,
    threshold: 0,
    paceMs: 5,
    retailers: ['frankfurt', 'ireland'],
    compare: false,
    sales: 5,
    event: 'concert-7',
    autostart: false,
  });
});

test.each([
  ['tickets', '0'],
  ['tickets', '5001'],
  ['tickets', '1e2'],
  ['threshold', '-1'],
  ['pace', 'slow'],
  ['sales', '21'],
  ['retailers', ','],
  ['retailers', Array.from({ length: 17 }, () => 'frankfurt').join(',')],
  ['event', ''],
  ['event', 'a b'],
  ['event', 'x'.repeat(61)],
])('settings: %s=%s → refused by name', (field, value) => {
  expect(() => read(new URLSearchParams({ [field]: value }).toString())).toThrow(
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      field,
      message: expect.stringContaining(`${field}:`),
    }),
  );
});

test('invitation: read by another tab → the same event and policy, one retailer beside the site', () => {
  const settings = read('tickets=60&threshold=7&pace=5');
  expect(read(inviteTo('concert-7', { ...settings, retailers: ['virginia'] }))).toMatchObject({
    event: 'concert-7',
    tickets: 60,
    threshold: 7,
    paceMs: 5,
    retailers: ['virginia'],
  });
});
