/** Puts a page together: buttons, both lanes, the sums. */
import { WAYS, type Way } from '../chase/application.ts';
import { askAbout, type About } from './about.ts';
import { adviceFor } from './advice.ts';
import { byId, make, setText } from './dom.ts';
import { Race, type Heat, type PageApplication, type Phase } from './race.ts';
import { replayer } from './replay.ts';
import { stepItem, stepsOf } from './steps.ts';
import { sumsView } from './sums.ts';
import { timeline } from './timeline.ts';

export interface PageDemo<T> extends PageApplication<T> {
  /** What the references name, in the plural. */
  readonly things: string;
  /** Whether the things have content that is fetched over HTTP. */
  readonly hasContent: boolean;
  /** A thing as an item of a list. */
  item(thing: T): HTMLElement;
}

const PHASES: Readonly<Record<Phase, string>> = {
  connecting: 'Connecting…',
  ready: 'Ready',
  fetching: 'Fetching…',
  delivered: 'Delivered: the preliminary references were right',
  misspeculated: 'Delivered after a misspeculation: fetched twice',
  failed: 'Failed',
};
const MANY = 50;

/** Runs the page. What goes wrong at the start is shown. */
export async function runPage<T>(demo: PageDemo<T>): Promise<void> {
  try {
    const about = await askAbout();
    const race = new Race(demo, about, () => showState(race));
    byId('content-key', HTMLLIElement).hidden = !demo.hasContent;
    const draw = lanesView(demo);
    const showSums = sumsView();
    wire(race, about, () => {
      const heat = race.heats.at(-1);
      if (heat !== undefined) draw(heat);
      showSums(race.heats);
    });
    await race.connect(about.sites[0] as string);
  } catch (error) {
    showFailure(error);
    throw error;
  }
}

/** @param show called after a request, or several, with new results */
function wire<T>(race: Race<T>, about: About, show: () => void): void {
  const site = byId('site', HTMLSelectElement);
  const user = byId('user', HTMLInputElement);
  for (const name of about.sites) site.append(new Option(name, name));
  user.max = String(about.users - 1);
  const anybody = (): number => Math.floor(Math.random() * about.users);
  site.addEventListener('change', () => void race.connect(site.value));
  byId('another', HTMLButtonElement).addEventListener('click', () => (user.value = String(anybody())));
  const onClick = (id: string, run: () => Promise<void>): void => {
    byId(id, HTMLButtonElement).addEventListener('click', () => {
      if (isBusy(race.phase) || !user.reportValidity()) return;
      void run().then(show);
    });
  };
  onClick('fetch', () => race.run(user.valueAsNumber));
  onClick('change', () => race.run(user.valueAsNumber, { change: true }));
  onClick('many', async () => {
    for (let n = 0; n < MANY && race.phase !== 'failed'; n += 1) await race.run(anybody());
  });
}

function lanesView<T>({ things, item }: PageDemo<T>): (heat: Heat<T>) => void {
  const replay = replayer();
  let redraw = (): void => {};
  new ResizeObserver(() => redraw()).observe(byId('baseline-timeline', HTMLDivElement));
  return (heat) => {
    const endMs = 1.04 * Math.max(...WAYS.map((way) => heat.traces[way].deliveredMs ?? 0));
    let shownMs = 0;
    const show = (untilMs: number): void => {
      shownMs = untilMs;
      for (const way of WAYS) drawTimeline(heat, way, { endMs, untilMs, things });
    };
    redraw = () => show(shownMs);
    for (const way of WAYS) {
      const steps = stepsOf(heat.traces[way], things);
      byId(`${way}-steps`, HTMLOListElement).replaceChildren(...steps.map(stepItem));
      byId(`${way}-items`, HTMLUListElement).replaceChildren(...heat.items[way].map(item));
      const spoken = steps.map(({ name, text, atMs }) => `${name} at ${atMs.toFixed(0)} ms: ${text}`).join('. ');
      byId(`${way}-timeline`, HTMLDivElement).setAttribute('aria-label', spoken);
    }
    replay(endMs, show);
  };
}

interface Drawing {
  readonly endMs: number;
  readonly untilMs: number;
  readonly things: string;
}

function drawTimeline<T>(heat: Heat<T>, way: Way, drawing: Drawing): void {
  const place = byId(`${way}-timeline`, HTMLDivElement);
  place.replaceChildren(timeline(heat.traces[way], { ...drawing, width: place.clientWidth }));
}

function showState<T>(race: Race<T>): void {
  const status = byId('status', HTMLParagraphElement);
  status.dataset['phase'] = race.phase;
  setText(status, race.online ? PHASES[race.phase] : 'No connection: trying again…');
  const busy = String(isBusy(race.phase));
  for (const id of ['fetch', 'change', 'many']) byId(id, HTMLButtonElement).setAttribute('aria-disabled', busy);
  if (race.phase === 'failed') showFailure(race.failure);
  else byId('failure', HTMLElement).hidden = true;
}

function showFailure(failure: unknown): void {
  const status = byId('status', HTMLParagraphElement);
  status.dataset['phase'] = 'failed';
  setText(status, PHASES.failed);
  byId('failure', HTMLElement).hidden = false;
  setText(byId('failure-advice', HTMLParagraphElement), adviceFor(failure));
  setText(byId('failure-detail', HTMLParagraphElement), failure instanceof Error ? failure.message : String(failure));
}

function isBusy(phase: Phase): boolean {
  return phase === 'connecting' || phase === 'fetching';
}

/** A picture given as SVG, as an image: what comes over the network is not made part of the page. */
export function picture(svg: string): HTMLImageElement {
  const image = make('img', '');
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  image.alt = '';
  return image;
}
