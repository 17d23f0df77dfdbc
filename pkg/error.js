// The only error class that this package throws.

export class ExitgapError extends Error {
  constructor(code, message, more = {}) {
    const { cause, ...fields } = more;
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ExitgapError';
    this.code = code;
    for (const [name, value] of Object.entries(fields)) {
      if (value !== undefined && value !== null) this[name] = value;
    }
  }

  /** With the message, which JSON leaves out of other errors. */
  toJSON() {
    return { message: this.message, ...this };
  }
}

/** What was thrown, as an error of this package: a caller's own objects may throw anything. */
export function typed(thrown) {
  if (thrown instanceof ExitgapError) return thrown;
  return new ExitgapError('invalid_parameter', `an argument could not be read: ${said(thrown)}`, { cause: thrown });
}

/** The words of what was thrown, which may itself refuse to be a text. */
export function said(thrown) {
  try {
    const words = thrown?.message ?? thrown;
    // Converts only primitive values to a string: joining an array with billions of elements would take minutes.
    return (Object(words) === words ? Object.prototype.toString.call(words) : String(words)).slice(0, 500);
  } catch {
    return 'an error without a message';
  }
}

/** The error of a problem document. Its fields are named as a caller here spells them. */
export function errorOf(problem, more = {}) {
  return new ExitgapError(problem.code, problem.detail || problem.title || problem.code, {
    field: problem.field === undefined ? undefined : camel(problem.field),
    hint: problem.hint,
    reason: problem.reason,
    sizeUsd: problem.size_usd,
    maxFillableUsd: problem.max_fillable_usd,
    evidenceUrl: problem.evidence_url,
    ...more,
  });
}

function camel(name) {
  return name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
}
