/** The port of the red log: what a site asks of an engine, and nothing else. */
import { expectTypeOf, test } from 'vitest';
import type { RedLog } from '../../src/server/log/log.ts';
import type { SequencedLog } from '../../src/server/log/sequenced-log.ts';
import type { RedRecord } from '../../src/server/records/records.ts';
import { SiteMachine } from '../../src/server/site/site-machine.ts';

test('a site → knows its log by the port alone, which the built-in engine is one of', () => {
  expectTypeOf<SiteMachine['log']>().toEqualTypeOf<RedLog<RedRecord>>();
  expectTypeOf<SequencedLog<RedRecord>>().toExtend<RedLog<RedRecord>>();
});

test('another engine → is made in the place of it', () => {
  class Other extends SiteMachine {
    protected override createLog(): RedLog<RedRecord> {
      return {} as RedLog<RedRecord>;
    }
  }
  expectTypeOf<Other>().toExtend<SiteMachine>();
});
