/**
 * The code of docs/bindings/zookeeper.md runs, on the tests' own servers in the place of those that
 * it names.
 */
import { expect, test } from 'vitest';
import { ZooKeeper } from '../../../../src/bindings/zookeeper/index.ts';
import { FakeEnsemble } from '../../../support/zookeeper-server/ensemble.ts';
import { output } from '../../../docs/bundle.ts';
import { readPage } from '../../../docs/guide.ts';

const { program, printed } = await readPage('bindings/zookeeper');

test('page: its program → prints the output of the page', async () => {
  await using ensemble = await FakeEnsemble.start(3);
  const zk = new ZooKeeper(ensemble.connectString);
  await zk.create('/my-application', null);
  await zk.close();
  const here = program.replaceAll(/\bzk[\w-]*:2181(,zk[\w-]*:2181)*/g, ensemble.connectString);
  expect(here).not.toBe(program);
  expect(await output(here, 'zookeeper.md.ts')).toBe(printed);
});
