/** Versions of a service. */
import { expect, test } from 'vitest';
import { serviceVersion } from '../../../../src/server/label/service-version.ts';
import { recoloured } from '../../../../src/server/service/recoloured.ts';
import { bankService } from './bank.ts';

test('is the same for the same service, made again', () => {
  expect(serviceVersion(bankService())).toBe(serviceVersion(bankService()));
});

test.each([
  ['a colour', recoloured(bankService(), { withdraw: 'blue' })],
  ['a generator', { ...bankService(), generators: { ...bankService().generators, deposit: () => null } }],
  ['an invariant', { ...bankService(), invariants: { accounts: { rich: () => false } } }],
  ['a field', { ...bankService(), tables: {} }],
  ['what is always red', { ...bankService(), alwaysRed: new Set(['withdraw']) }],
])('is another with %s changed', (_name, service) => {
  expect(serviceVersion(service)).not.toBe(serviceVersion(bankService()));
});

test('is another where its module is, though no function of the service shows it', () => {
  const [one, two] = ['const limit = 1;', 'const limit = 2;'].map((text) => serviceVersion(bankService(), text));
  expect(one).not.toBe(two);
});
