/** What a view depends on, and what a change reaches: marks, so that the two have only to be compared. */
import { principalOf } from './identity.ts';

/** The marks that a change reaches; `undefined` for all there are. */
export type Scope = readonly string[] | undefined;

/** On views that may depend on any object. */
const ANY = 'any';

/** What changes with these objects; with `undefined`, everything may. */
export function scopeOf(touches: readonly string[] | undefined): Scope {
  return touches && [ANY, ...touches.map(ofObject)];
}

/** What belongs to `principal`; with `undefined`, to anybody. */
export function scopeOfPrincipal(principal: string | undefined): Scope {
  return principal === undefined ? undefined : [ofPrincipal(principal)];
}

/** The marks of a view. */
export function marksOf(id: string, touches: readonly string[] | undefined): readonly string[] {
  return [ofPrincipal(principalOf(id)), ...objectMarksOf(touches)];
}

/** Those of them that are of objects. */
export function objectMarksOf(touches: readonly string[] | undefined): readonly string[] {
  return touches?.map(ofObject) ?? [ANY];
}

/** The mark of one view alone. */
export function ofView(id: string): string {
  return `view ${id}`;
}

function ofObject(key: string): string {
  return `object ${key}`;
}

function ofPrincipal(principal: string): string {
  return `principal ${principal}`;
}
