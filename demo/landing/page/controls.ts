/** Connects the controls of the page: choices and buttons. */
import { byId } from '../../shared/page/dom.ts';
import { WAY_NAMES } from '../ways/ways.ts';

export interface Settings {
  readonly distanceMs: number;
  /** The share of clicks that meet a stale copy, from 0 to 1. */
  readonly staleShare: number;
}

/** The buttons that cause a fault, by their ids on the page. */
export const BREAKS = ['stale', 'last', 'cut'] as const;
export type Break = (typeof BREAKS)[number];

export interface Actions {
  readonly changed: () => void;
  /** Runs many clicks, or stops doing so. */
  readonly toggleRun: () => void;
  readonly clickOnce: () => void;
  readonly break: (what: Break) => void;
}

/** @returns a function that reads the present choices */
export function wireControls(actions: Actions): () => Settings {
  for (const name of ['distance', 'share']) {
    for (const choice of radios(name)) choice.addEventListener('change', actions.changed);
  }
  byId('run', HTMLButtonElement).addEventListener('click', actions.toggleRun);
  byId('once', HTMLButtonElement).addEventListener('click', actions.clickOnce);
  for (const what of BREAKS)
    byId(`break-${what}`, HTMLButtonElement).addEventListener('click', () => actions.break(what));
  const ways = byId('shown', HTMLDivElement);
  for (const choice of radios('way'))
    choice.addEventListener('change', () => (ways.dataset['shown'] = choice.value));
  for (const way of WAY_NAMES)
    wireCopy(byId(`${way}-copy`, HTMLButtonElement), byId(`${way}-code`, HTMLElement));
  return () => ({
    distanceMs: Number(chosen('distance')),
    staleShare: Number(chosen('share')) / 100,
  });
}

function radios(name: string): readonly HTMLInputElement[] {
  return [...document.querySelectorAll<HTMLInputElement>(`input[name="${name}"]`)];
}

function chosen(name: string): string | undefined {
  return radios(name).find(({ checked }) => checked)?.value;
}

/** Copies the code. A browser that does not allow it gets the code selected instead. */
function wireCopy(button: HTMLButtonElement, code: HTMLElement): void {
  const label = button.textContent;
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = label), 1_500);
    } catch {
      getSelection()?.selectAllChildren(code);
    }
  };
  button.addEventListener('click', () => void copy());
}
