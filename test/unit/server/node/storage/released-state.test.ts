/**
 * When the red log hears that it is not read again: once a checkpoint would survive a crash, and up
 * to where that stands.
 */
import { expect, test } from 'vitest';
import type { LogPositions } from '../../../../../src/server/log/log-positions.ts';
import { SEQUENCED_ENGINE } from '../../../../../src/server/log/sequenced/engine.ts';
import { SequencedLog } from '../../../../../src/server/log/sequenced/sequenced-log.ts';
import { enqueue } from '../../../../../src/operations/index.ts';
import { replaceMethods } from '../../../../support/replace-methods.ts';
import { Sites } from '../../site/sites.ts';
import { notesService } from './notes-service.ts';
import { TestSite, VirtualMachine } from './virtual-storage.ts';

test('onCheckpointed has been called → a crash at that moment keeps the checkpoint', () => {
  const machine = new VirtualMachine(1);
  const reported: LogPositions[] = [];
  class CrashingSite extends TestSite {
    onCheckpointed(contained: LogPositions): void {
      reported.push(contained);
      machine.disk.crash();
    }
  }
  const site = new CrashingSite(machine.timeline, machine.disk);
  site.append('local', 'a', 'b');
  site.append('red', 'r');
  machine.run();
  site.storage.checkpoint();
  machine.run();
  expect(reported).toEqual([{ local: 2, red: 1 }]);
  expect(machine.start().stored.checkpoint?.smallParts).toEqual({ local: 2, red: 1 });
});

test('the red log goes on while a checkpoint is on its way → released up to where the checkpoint stands', () => {
  const released: number[] = [];
  const Noting = replaceMethods(SequencedLog, () => ({
    release: (...[length]: readonly number[]) => {
      if (length !== undefined) released.push(length);
    },
  }));
  const sites = new Sites(notesService(), 3, {
    redLog: { ...SEQUENCED_ENGINE, createNode: (options) => new Noting(options) },
  });
  const put = (item: string): void => {
    sites.submit(0, enqueue('q', item));
    sites.settle();
  };
  put('a');
  const [machine] = sites.machines;
  const cut = machine?.createCut();
  put('b');
  expect(released).toEqual([]);
  machine?.onCheckpointed();
  expect(released).toEqual([cut?.contained.red]);
  expect(machine?.redDelivered).toBeGreaterThan(cut?.contained.red ?? Infinity);
});
