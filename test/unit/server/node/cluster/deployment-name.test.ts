/** The name of a deployment: one key and one service have one, all others have another. */
import { expect, test } from 'vitest';
import { hashDeploymentName } from '../../../../../src/server/node/cluster/deployment-name.ts';

test('another key or service → another name; the same ones → the same', () => {
  const [key, other] = ['k'.repeat(32), 'l'.repeat(32)];
  const names = [
    hashDeploymentName(key, 'shop'),
    hashDeploymentName(other, 'shop'),
    hashDeploymentName(key, 'bank'),
  ];
  expect(new Set(names).size).toBe(3);
  expect(hashDeploymentName(Buffer.from(key), 'shop')).toBe(names[0]);
  expect(names[0]).toMatch(/^shop#[0-9a-f]{16}$/);
});
