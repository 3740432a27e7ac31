/**
 * Runs in the landing page: opens the same shop four ways at the same moment, and shows what each
 * took.
 */
import { byId, setText } from '../../shared/page/dom.ts';
import { capitalize } from '../../shared/page/format.ts';
import { prepareClick, type RunningClick } from '../click.ts';
import { measure } from '../measures.ts';
import { isStaleClick, type Scenario } from '../scenario.ts';
import { TIMEOUT_MS } from '../store.ts';
import { describe, describeRound, summarize, tally, type Round } from '../texts.ts';
import { WAY_NAMES, type WayName } from '../ways/ways.ts';
import { wireControls, type Break } from './controls.ts';
import { addMultiple, clearMultiples, drawAxis, drawLanes } from './lanes.ts';
import { paneView } from './pane.ts';

const CLICKS_PER_RUN = 20;
/** The pause between two clicks of a run, long enough to read the prices. */
const GAP_MS = 450;
/** The pause after a click with a stale copy, at which the ways differ most. */
const STALE_GAP_MS = 1_800;
const CALM: Omit<Scenario, 'distanceMs'> = { isStale: false, isLastOne: false, isCut: false };
/** The length of the time axis in round trips: two reads, then a part of the answer to Buy. */
const AXIS_TRIPS = 2.3;

type Clicks = Readonly<Record<WayName, RunningClick>>;

const panes = perWay((way) => paneView(way));
const settings = wireControls({
  changed: () => void run(),
  toggleRun: () => (isRunning ? stop() : void run()),
  clickOnce: () => void single({ ...CALM, distanceMs: settings().distanceMs }, false),
  break: (what) => void breakIt(what),
});

/** Aborted when something else is played. */
let current = new AbortController();
let isRunning = false;
let latest: Clicks | undefined;

void run();

async function run(): Promise<void> {
  const { signal } = begin();
  const { distanceMs, staleShare } = settings();
  const rounds: Round[] = [];
  clearMultiples();
  showRunning(true);
  for (let n = 0; n < CLICKS_PER_RUN && !signal.aborted; n += 1) {
    await whenVisible();
    const isStale = isStaleClick(n, staleShare, CLICKS_PER_RUN);
    const clicks = await play({ ...CALM, distanceMs, isStale }, { signal, buysAtOnce: true });
    // A hidden page has slow timers: so do not count this click.
    if (clicks === undefined || document.hidden) continue;
    const round = showOutcome(clicks);
    addMultiple(clicks, AXIS_TRIPS * distanceMs, describeRound(round));
    rounds.push(round);
    showSummary(rounds, { ...CALM, distanceMs });
    await pause(isStale ? STALE_GAP_MS : GAP_MS);
  }
  if (!signal.aborted) showRunning(false);
}

/** Plays one click that is not part of a run, and describes it. A customer may press Buy later. */
async function single(scenario: Scenario, buysAtOnce: boolean): Promise<void> {
  const { signal } = begin();
  showRunning(false);
  let settled: Clicks | undefined;
  const show = (): void => {
    if (settled !== undefined) showSummary([showOutcome(settled)], scenario);
  };
  settled = await play(scenario, { signal, buysAtOnce, onStep: show });
  show();
}

/** Describes a click, in its panes and for people who cannot see them. */
function showOutcome(clicks: Clicks): Round {
  const round = perWay((way) => measure(clicks[way]));
  setText(byId('spoken', HTMLElement), describeRound(round));
  for (const way of WAY_NAMES)
    setText(byId(`${way}-outcome`, HTMLElement), `${capitalize(describe(round[way]))}.`);
  return round;
}

/** Shows the sentences and the counters together, so that they never contradict each other. */
function showSummary(rounds: readonly Round[], scenario: Scenario): void {
  const { headline, others } = summarize(rounds, scenario);
  setText(byId('headline', HTMLElement), headline);
  setText(byId('others', HTMLElement), others);
  for (const way of WAY_NAMES) {
    const { text, isWrong } = tally(rounds, way);
    showCount(way, text, isWrong);
  }
}

function showCount(way: WayName, text: string, isWrong: boolean): void {
  const place = byId(`${way}-wrong`, HTMLElement);
  setText(place, text);
  place.classList.toggle('bad', isWrong);
}

/** Removes what an earlier click left. */
function clearSummary(): void {
  setText(byId('headline', HTMLElement), 'Opening the same shop page four ways…');
  setText(byId('others', HTMLElement), '');
  for (const way of WAY_NAMES) showCount(way, '–', false);
}

async function breakIt(what: Break): Promise<void> {
  const { distanceMs } = settings();
  const scenario = {
    ...CALM,
    distanceMs,
    isStale: what === 'stale',
    isLastOne: what === 'last',
    isCut: what === 'cut',
  };
  await single(scenario, true);
}

function stop(): void {
  current.abort();
  showRunning(false);
}

function begin(): AbortController {
  current.abort();
  current = new AbortController();
  clearSummary();
  return current;
}

interface Play {
  /** Aborts when something else is played: then this click is no longer shown. */
  readonly signal: AbortSignal;
  readonly buysAtOnce: boolean;
  /** Called after each step. */
  readonly onStep?: () => void;
}

/**
 * Opens the page all four ways at once. Resolves when all have settled, or with `undefined` if
 * another click is played meanwhile.
 */
async function play(
  scenario: Scenario,
  { signal, buysAtOnce, onStep }: Play,
): Promise<Clicks | undefined> {
  const isShown = (): boolean => !signal.aborted;
  const showStep = (click: RunningClick): void => {
    if (!isShown()) return;
    panes[click.way].show(click);
    onStep?.();
  };
  const options = { scenario, buysAtOnce, onStep: showStep };
  const prepared = await Promise.all(WAY_NAMES.map((way) => prepareClick(way, options)));
  const before = latest;
  if (!isShown()) {
    for (const start of prepared) void start().close();
    return undefined;
  }
  const started = prepared.map((start) => start());
  const clicks = (latest = perWay(
    (way) => started.find((click) => click.way === way) as RunningClick,
  ));
  for (const way of WAY_NAMES) {
    panes[way].show(clicks[way]);
    setText(byId(`${way}-outcome`, HTMLElement), '');
    void before?.[way].close();
  }
  const endMs = scenario.isCut ? 1.1 * TIMEOUT_MS : AXIS_TRIPS * scenario.distanceMs;
  drawAxis(endMs);
  animate(clicks, endMs, isShown);
  await Promise.all(WAY_NAMES.map((way) => clicks[way].settled));
  return isShown() ? clicks : undefined;
}

/** Animates bars and stopwatches until the end of the axis. */
function animate(clicks: Clicks, endMs: number, isShown: () => boolean): void {
  const draw = (): void => {
    if (!isShown()) return;
    const passedMs = performance.now() - clicks.await.beganAt;
    drawLanes(clicks, passedMs, endMs);
    for (const way of WAY_NAMES) panes[way].tick(clicks[way]);
    if (passedMs < endMs) requestAnimationFrame(draw);
  };
  draw();
}

function perWay<T>(create: (way: WayName) => T): Record<WayName, T> {
  return Object.fromEntries(WAY_NAMES.map((way) => [way, create(way)])) as Record<WayName, T>;
}

function showRunning(isOn: boolean): void {
  isRunning = isOn;
  setText(byId('run', HTMLButtonElement), isOn ? 'Stop' : `Run ${CLICKS_PER_RUN} clicks`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function whenVisible(): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) =>
    document.addEventListener('visibilitychange', () => resolve(), { once: true }),
  );
}
