import { Component, type ReactNode } from "react";
import { NotLoaded } from "./Pending";

interface BoundaryProps {
  /** The path of the page. When it changes, the boundary tries to show the page again. */
  path: string;
  children: ReactNode;
}

/** Shows a message instead of a page that fails. */
export class Boundary extends Component<BoundaryProps, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override componentDidUpdate(before: BoundaryProps) {
    if (before.path !== this.props.path && this.state.hasFailed) this.setState({ hasFailed: false });
  }

  override render() {
    return this.state.hasFailed ? <NotLoaded /> : this.props.children;
  }
}
