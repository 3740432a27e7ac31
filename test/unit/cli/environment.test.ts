import { expect, test } from 'vitest';
import { findVariableFor, withEnvironment } from '../../../src/cli/options.ts';

const KNOWN = new Map([
  ['port', true],
  ['redLeader', true],
  ['json', false],
]);

test('sets flags that were not typed from the environment', () => {
  const environment = {
    PORT: '8080',
    CORRECTABLES_RED_LEADER: 'frankfurt',
    CORRECTABLES_JSON: '1',
    CORRECTABLES_SITES: '',
  };
  expect(withEnvironment({ port: 7420 }, KNOWN, ['serve'], environment)).toEqual({
    port: '8080',
    redLeader: 'frankfurt',
    json: true,
  });
});

test('prefers what was typed, then the own variable of the flag', () => {
  const environment = { PORT: '1', CORRECTABLES_PORT: '2' };
  expect(withEnvironment({ port: '3' }, KNOWN, ['serve', '--port=3'], environment)).toEqual({ port: '3' });
  expect(withEnvironment({}, KNOWN, ['serve'], environment)).toEqual({ port: '2' });
  expect(findVariableFor('port', ['serve'], environment)).toBe('CORRECTABLES_PORT');
  expect(findVariableFor('port', ['serve', '--port', '3'], environment)).toBeUndefined();
});

test('ignores the address that Kubernetes sets for a service named correctables', () => {
  const environment = { PORT: '8080', CORRECTABLES_PORT: 'tcp://10.0.0.7:7420', CORRECTABLES_SERVICE_HOST: '10.0.0.7' };
  expect(withEnvironment({}, KNOWN, ['serve'], environment)).toEqual({ port: '8080' });
  expect(findVariableFor('port', ['serve'], environment)).toBe('PORT');
});

test('refuses a variable of a flag without a value that is neither true nor false', () => {
  expect(() => withEnvironment({}, KNOWN, [], { CORRECTABLES_JSON: 'yes' })).toThrow(
    'CORRECTABLES_JSON must be true or false, got "yes"',
  );
});
