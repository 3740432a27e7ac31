/**
 * Tabs with a cache each, the store that they share and the store behind: plays a schedule and
 * returns the broken promises.
 */
import type { Coverage } from '../outcomes/coverage.ts';
import type { VirtualTime } from '../outcomes/virtual-time.ts';
import { Disk } from './disk.ts';
import { History } from './history.ts';
import { CacheChecker, PageRecord, SessionRecord, type Clearing } from './checker.ts';
import { READS } from './operations.ts';
import { Origin, type Submission } from './origin.ts';
import { Page, type Surroundings } from './page.ts';
import type { Step } from './schedule.ts';
import type { CacheOptions } from './options.ts';

const EPOCH_MS = 1_700_000_000_000;
/** More than the time that the cache may wait for its store in all. */
const PATIENCE_MS = 5_000;
/** More than the time that the cache waits before it retries a write. */
const BACKOFF_MS = 60_000;

export class CacheSimulation {
  readonly judge: CacheChecker;
  readonly #time: VirtualTime;
  readonly #setting: CacheOptions;
  readonly #sights: Coverage;
  readonly #history = new History();
  readonly #origin: Origin;
  readonly #disk = new Disk();
  readonly #pages: Page[] = [];
  readonly #around: Surroundings;
  #tokens: { readonly given: readonly string[]; readonly record: SessionRecord } | undefined;
  #wallAheadMs = 0;

  constructor(time: VirtualTime, setting: CacheOptions, sights: Coverage) {
    this.#time = time;
    this.#setting = setting;
    this.#sights = sights;
    this.judge = new CacheChecker(this.#history, setting, sights, () => time.nowMs);
    this.#origin = new Origin(this.#history, setting);
    this.#around = {
      setting,
      origin: this.#origin,
      disk: this.#disk,
      judge: this.judge,
      nowMs: () => time.nowMs,
      wallMs: () => EPOCH_MS + Math.floor(time.nowMs) + this.#wallAheadMs,
      newNumber: () => this.#history.number(),
      keyed: new Map(),
      saw: (description) => sights.saw(description),
      records: () => this.#pages.map(({ record }) => record),
    };
    for (let tab = 0; tab < setting.tabs; tab++)
      this.#pages.push(this.#open(tab, 'ada', undefined));
  }

  async play(steps: readonly Step[]): Promise<void> {
    let isHurried = false;
    for (const step of steps) {
      this.#do(step);
      if (step.do === 'wait') await this.#time.advance(step.ms);
      else if (step.do !== 'hurry' && !isHurried) await this.#time.advance(0);
      isHurried = step.do === 'hurry';
    }
    await this.#time.advance(0);
  }

  /**
   * Waits until all calls end, ends all faults, reads all objects, and opens the pages again.
   * Returns the broken promises.
   */
  async verdict(): Promise<string[]> {
    // Operations that first wait for the store of the cache are submitted later.
    for (const ms of [PATIENCE_MS, PATIENCE_MS]) {
      for (const submission of this.#origin.underWay.slice()) this.#origin.go(submission, true, 0);
      await this.#time.advance(ms);
    }
    this.#complain('though its store only fails or hangs');
    this.#heal();
    await this.#time.advance(BACKOFF_MS);
    await this.#lookEverywhere();
    for (const { tab } of this.#pages) this.#do({ do: 'reload', tab, landed: 9 });
    await this.#time.advance(0);
    await this.#lookEverywhere();
    for (const page of this.#pages) this.#close(page, false);
    await this.#time.advance(PATIENCE_MS);
    this.#complain('though all is well');
    return this.judge.problems;
  }

  #complain(reason: string): void {
    for (const page of this.#pages) {
      for (const { what: description } of page.waiting.filter(({ isOver }) => !isOver)) {
        this.judge.wrong('P9', `tab ${page.tab}: ${description} has not ended, ${reason}`);
      }
      page.waiting.length = 0;
    }
  }

  #heal(): void {
    this.#disk.holdsNotices = false;
    for (const page of this.#pages) {
      this.#disk.setMode(page.tab, 'prompt');
      if (page.isUnknown) page.signIn(page.principal);
      this.#disk.deliver(page, true);
    }
    for (const call of this.#disk.waiting.slice()) this.#disk.land(call, 'finish');
  }

  async #lookEverywhere(): Promise<void> {
    for (const page of this.#pages) {
      for (const read of READS.keys()) {
        for (const inSession of page.session === undefined ? [false] : [false, true]) {
          const submission = page.read({ read, wants: 'look', inSession });
          if (submission !== undefined) this.#origin.fail(submission, false);
        }
      }
    }
    await this.#time.advance(0);
    for (const submission of this.#origin.underWay.slice()) this.#origin.fail(submission, false);
    await this.#time.advance(0);
  }

  #open(tab: number, principal: string, before: Page | undefined): Page {
    const record = new PageRecord(tab, this.#setting.store === 'none' ? undefined : before?.record);
    return new Page(tab, principal, record, this.#around);
  }

  #pageOf(tab: number): Page {
    return this.#pages[tab % this.#pages.length]!;
  }

  #do(step: Step): void {
    this.#sights.saw(step.do);
    switch (step.do) {
      case 'read': {
        const submission = this.#pageOf(step.tab).read(step);
        if (submission !== undefined && step.isInstant) this.#origin.go(submission, true, step.lag);
        return;
      }
      case 'write': {
        const submission = this.#pageOf(step.tab).update(step);
        if (submission !== undefined && step.isInstant) this.#origin.go(submission, true, 0);
        return;
      }
      case 'go':
        return this.#ofUnderWay(step.which, (submission) =>
          this.#origin.go(submission, step.all, step.lag),
        );
      case 'fail':
        return this.#ofUnderWay(step.which, (submission) =>
          this.#origin.fail(submission, step.hasEffect),
        );
      case 'foreign':
        return this.#history.write(step.objects.map((object) => [object, this.#history.number()]));
      case 'replicate':
        return this.#origin.replicate(step.all);
      case 'restore backup':
        // Several tabs may send each other old views whose versions seem newer after a restore, so
        // restore with one tab only.
        if (this.#setting.tabs === 1) this.#origin.restoreBackup();
        return;
      case 'disk':
        return this.#disk.setMode(step.tab % this.#setting.tabs, step.mode);
      case 'land': {
        const call = this.#disk.waiting[step.which % Math.max(1, this.#disk.waiting.length)];
        return call && this.#disk.land(call, step.landing);
      }
      case 'hold notices':
        this.#disk.holdsNotices = step.hold;
        return;
      case 'deliver':
        return this.#disk.deliver(this.#pageOf(step.tab), step.all);
      case 'reload':
        return this.#reload(this.#pageOf(step.tab), step.landed);
      case 'close':
        return this.#close(this.#pageOf(step.tab), step.clears);
      case 'clear': {
        const page = this.#pageOf(step.tab);
        return this.#clear(page, step.whose === 'own' ? page.principal : undefined);
      }
      case 'invalidate': {
        const page = this.#pageOf(step.tab);
        const clearing = this.judge.asksClearing(this.#around.records(), {
          principal: undefined,
          object: step.object,
        });
        page.await('invalidate', page.binding.invalidate(step.object), () =>
          this.#cleared(page, clearing),
        );
        return;
      }
      case 'sign in': {
        const page = this.#pageOf(step.tab);
        if (page.who === step.name) return;
        this.#sights.saw(step.name === 'unknown' ? 'unknown user' : 'another user');
        return page.signIn(step.name);
      }
      case 'session': {
        const continued = step.shouldContinue ? this.#tokens : undefined;
        return this.#pageOf(step.tab).openSession(
          continued?.given,
          new SessionRecord(continued?.record),
        );
      }
      case 'take tokens': {
        const { session } = this.#pageOf(step.tab);
        if (session !== undefined)
          this.#tokens = { given: session.key.tokens, record: new SessionRecord(session.record) };
        return;
      }
      case 'set clock':
        if (this.#setting.hasClockJumps) this.#wallAheadMs += step.byMs;
        return;
      case 'hurry':
      case 'wait':
        return;
    }
  }

  #ofUnderWay(which: number, act: (submission: Submission) => void): void {
    const { underWay: inFlight } = this.#origin;
    const submission = inFlight[which % Math.max(1, inFlight.length)];
    if (submission !== undefined) act(submission);
  }

  #reload(page: Page, landed: number): void {
    page.isGone = true;
    this.#disk.abandon(page, landed);
    this.#pages[page.tab] = this.#open(page.tab, page.principal, page);
  }

  /** Closes the client of a page. A page that signs out clears its cache afterwards. */
  #close(page: Page, clears: boolean): void {
    if (!page.isClosed) page.await('close', page.close(), () => {});
    if (clears) this.#clear(page, page.principal);
  }

  #clear(page: Page, principal: string | undefined): void {
    const clearing = this.judge.asksClearing(this.#around.records(), {
      principal,
      object: undefined,
    });
    page.await(
      'clear',
      page.binding.clear({ ...(principal !== undefined && { principal }) }),
      () => {
        this.judge.hasClearedStore(clearing, this.#disk.entries);
        this.#cleared(page, clearing);
      },
    );
  }

  #cleared(page: Page, clearing: Clearing): void {
    this.judge.hasCleared(page.record, clearing);
    for (const other of this.#pages) if (other !== page) other.cleared(clearing);
  }
}
