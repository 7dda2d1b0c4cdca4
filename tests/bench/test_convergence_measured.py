"""Chances of real models are found again from the answers that they give."""

from __future__ import annotations

from random import Random

from bench.convergence.campaign import SPREAD
from bench.convergence.measured import FILES, counts_of, fitted, measured


def test_a_fit_finds_the_distribution_from_which_answers_were_drawn() -> None:
    random = Random("fit")
    chances = [random.betavariate(0.3, 0.6) for _ in range(2000)]
    fit = fitted([(sum(random.random() < chance for _ in range(20)), 20) for chance in chances])
    assert abs(fit.alpha - 0.3) < 0.05
    assert abs(fit.beta - 0.6) < 0.1


def test_a_constant_chance_explains_no_recorded_model() -> None:
    assert all(fit.likelihood > fit.constant + 50 for fit in measured().values())


def test_the_campaign_draws_the_models_that_were_measured() -> None:
    for fit in measured().values():
        assert (fit.mean, fit.spread) in SPREAD


def test_the_mean_is_that_of_the_recorded_answers() -> None:
    for model, fit in measured().items():
        chances = [passed / made for passed, made in counts_of(FILES[model])]
        assert abs(fit.mean - sum(chances) / len(chances)) < 0.06
