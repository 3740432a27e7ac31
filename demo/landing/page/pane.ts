/** Shows one of the four panes: the shop's page as a customer sees it, with a stopwatch. */
import { byId, setText } from '../../shared/page/dom.ts';
import type { RunningClick } from '../click.ts';
import { measure, type Measures } from '../measures.ts';
import type { WayName } from '../ways/ways.ts';

/** The states of a pane, each with a style in style.css. */
type State = 'waiting' | 'unmarked' | 'confirming' | 'confirmed' | 'corrected' | 'failed';

export interface Pane {
  /** Shows a click as it is now. */
  show(click: RunningClick): void;
  /** Updates the stopwatch. */
  tick(click: RunningClick): void;
}

export function paneView(way: WayName): Pane {
  const part = <E extends HTMLElement>(name: string, kind: new () => E): E =>
    byId(`${way}-${name}`, kind);
  const pane = part('pane', HTMLElement);
  const [old, price, mark] = [
    part('old', HTMLElement),
    part('price', HTMLElement),
    part('mark', HTMLElement),
  ];
  const [delivery, left, answer] = [
    part('delivery', HTMLElement),
    part('left', HTMLElement),
    part('answer', HTMLElement),
  ];
  const [shownTime, enabledTime] = [part('shown', HTMLElement), part('enabled', HTMLElement)];
  const buy = part('buy', HTMLButtonElement);
  let shown: RunningClick | undefined;
  buy.addEventListener('click', () => shown?.press());

  return {
    show(click) {
      shown = click;
      const { steps } = click;
      const measures = measure(click);
      const goods = steps.findLast((step) => step.kind === 'shown')?.goods;
      const first = steps.find((step) => step.kind === 'shown')?.goods;
      const isCorrected = measures.correctedMs !== undefined;
      pane.dataset['state'] = stateOf(measures);
      setText(old, isCorrected && measures.isMarked ? `${first?.offer.price} €` : '');
      setText(price, goods === undefined ? '' : `${goods.offer.price} €`);
      price.classList.toggle('rolled', isCorrected && measures.isMarked);
      setText(mark, markOf(measures));
      setText(delivery, goods?.delivery ?? '');
      setText(
        left,
        goods === undefined
          ? ''
          : goods.offer.left === 1
            ? 'the last one'
            : `${goods.offer.left} left`,
      );
      const canPress =
        measures.pressed === undefined && steps.some(({ kind }) => kind === 'allowed');
      buy.setAttribute('aria-disabled', String(!canPress));
      setText(buy, buyLabel(measures, canPress, goods?.offer.price));
      setText(answer, answerOf(measures));
      answer.classList.toggle('bad', measures.wrongSale !== undefined);
      showTimes(measures, performance.now() - click.beganAt);
    },
    tick(click) {
      showTimes(measure(click), performance.now() - click.beganAt);
    },
  };

  function showTimes({ shownMs, enabledMs, failure }: Measures, passedMs: number): void {
    const running = failure === undefined ? `${passedMs.toFixed(0)} ms` : 'never';
    setText(shownTime, shownMs === undefined ? running : `${shownMs.toFixed(0)} ms`);
    setText(enabledTime, enabledMs === undefined ? running : `${enabledMs.toFixed(0)} ms`);
  }
}

function stateOf({
  shownMs,
  confirmedMs,
  correctedMs,
  isMarked,
  failure,
  wrongSale,
}: Measures): State {
  if (wrongSale !== undefined) return 'failed';
  if (failure !== undefined && confirmedMs === undefined && isMarked) return 'failed';
  if (shownMs === undefined) return 'waiting';
  if (!isMarked) return 'unmarked';
  if (correctedMs !== undefined) return 'corrected';
  return confirmedMs === undefined ? 'confirming' : 'confirmed';
}

function markOf({ shownMs, confirmedMs, correctedMs, isMarked, failure }: Measures): string {
  if (!isMarked) return '';
  if (failure !== undefined && confirmedMs === undefined)
    return shownMs === undefined ? 'no connection' : 'not confirmed';
  if (shownMs === undefined) return '';
  if (confirmedMs === undefined) return 'confirming…';
  return correctedMs === undefined ? '✓ confirmed' : '✓ corrected';
}

function buyLabel(
  { pressed, shownMs, failure }: Measures,
  canPress: boolean,
  price: number | undefined,
): string {
  if (canPress) return `Buy for ${price} €`;
  if (pressed !== undefined) return `Pressed at ${pressed.price} €`;
  if (shownMs === undefined) return 'Buy';
  return failure === undefined ? 'Buy: held until confirmed' : 'Buy: held';
}

function answerOf({ answer, pressed, wrongSale }: Measures): string {
  if (pressed === undefined) return '';
  if (answer === undefined) return 'Buying…';
  if (wrongSale === 'taken back') return '“Yours” taken back: sold out.';
  if (wrongSale === 'never sold') return '“Yours” was never sold.';
  if (answer === 'sold out') return 'Sold out.';
  return `Yours for ${pressed.price} €${wrongSale === undefined ? '' : ': wrong price'}.`;
}
