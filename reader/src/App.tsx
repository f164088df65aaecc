import { Suspense } from "react";
import { Route, Switch, useLocation } from "wouter";
import { Boundary } from "./components/Boundary";
import { Frame } from "./components/Frame";
import { Pending } from "./components/Pending";
import { FrontPage } from "./pages/FrontPage";
import { NoPage } from "./pages/NotFound";
import { PAGES } from "./routes";

/** The page that the address names, in its frame. */
export function App() {
  const [path] = useLocation();
  return (
    <Frame>
      <Boundary path={path}>
        <Suspense fallback={<Pending />}>
          <Switch>
            <Route path="/" component={FrontPage} />
            {PAGES.map(([pattern, Page]) => (
              <Route key={pattern} path={pattern} component={Page} />
            ))}
            <Route component={NoPage} />
          </Switch>
        </Suspense>
      </Boundary>
    </Frame>
  );
}
