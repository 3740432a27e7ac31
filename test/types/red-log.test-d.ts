/** The port of the red log: what a site asks of an engine, and nothing else. */
import { expectTypeOf, test } from 'vitest';
import type { RedLog } from '../../src/server/log/red-log.ts';
import type { LogMessageFormat, RedLogEngine } from '../../src/server/log/red-log-engine.ts';
import type { SequencedLog } from '../../src/server/log/sequenced/sequenced-log.ts';
import type { RedRecord } from '../../src/server/service/records/records.ts';
import type { Site } from '../../src/server/site/site.ts';
import type { SiteOptions } from '../../src/server/site/site-options.ts';

test('a site → knows its log by the port alone, which the built-in engine is one of', () => {
  expectTypeOf<Site['log']>().toEqualTypeOf<RedLog<RedRecord>>();
  expectTypeOf<SequencedLog<RedRecord>>().toExtend<RedLog<RedRecord>>();
});

test('another engine → is given to the site, with what its nodes send each other', () => {
  interface Other {
    createNode(): RedLog<RedRecord>;
    readonly messages: LogMessageFormat;
  }
  expectTypeOf<Other>().toExtend<RedLogEngine>();
  expectTypeOf<SiteOptions['redLog']>().toEqualTypeOf<RedLogEngine | undefined>();
});
