/** The tests of engines without their tools: they fail, unless an option skips them. */
import { afterEach, expect, test, vi } from 'vitest';
import { EngineUnavailable } from '../../../engines/engine.ts';
import { missingTools } from '../../engines/support/missing-tools.ts';

const withoutJava = (): never => {
  throw new EngineUnavailable('java is missing: install a JDK');
};

afterEach(() => vi.unstubAllEnvs());

test.each(['', '0', undefined])('a tool is missing, SKIP_ENGINES %o → they fail', (value) => {
  vi.stubEnv('SKIP_ENGINES', value);
  expect(() => missingTools(withoutJava)).toThrow('java is missing');
});

test('a tool is missing, SKIP_ENGINES=1 → skipped, with the reason', () => {
  vi.stubEnv('SKIP_ENGINES', '1');
  expect(missingTools(withoutJava)).toBe('SKIP_ENGINES=1: java is missing: install a JDK');
});

test('SKIP_ENGINES=1, and all is there, or something else is wrong → nothing is skipped', () => {
  vi.stubEnv('SKIP_ENGINES', '1');
  expect(missingTools(() => {})).toBeUndefined();
  const broken = (): never => {
    throw new TypeError('broken');
  };
  expect(() => missingTools(broken)).toThrow(TypeError);
});
