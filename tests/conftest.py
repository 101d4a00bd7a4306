"""Lets every test import what the whole suite shares (`builders`)."""
