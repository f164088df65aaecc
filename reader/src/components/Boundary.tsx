import { Component, type ReactNode } from "react";
import { sayProblem } from "../status";

interface BoundaryProps {
  /** The path of the page: another page is tried anew. */
  path: string;
  children: ReactNode;
}

/** Shows a message instead of a page whose file cannot be loaded, or that fails. What was typed is kept as drafts. */
export class Boundary extends Component<BoundaryProps, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override componentDidUpdate(before: BoundaryProps) {
    if (before.path !== this.props.path && this.state.hasFailed) this.setState({ hasFailed: false });
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <div className="fault" role="alert">
        <p>This page could not be loaded.</p>
        <button type="button" onClick={() => void reload()}>
          Try again
        </button>
      </div>
    );
  }
}

/** Opens the page anew, unless the browser would only say that it cannot reach the server. */
async function reload(): Promise<void> {
  try {
    await fetch(location.href, { method: "HEAD" });
  } catch {
    return sayProblem("The server cannot be reached.");
  }
  location.reload();
}
